package interop

import (
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/skein-dev/skein"
)

// A claimer gives each record of a file a key of its own.
type claimer struct {
	seed  maphash.Seed
	first map[uint64]uint64   // by hash of the key: hash of the content that had it first
	more  map[uint64][]uint64 // and of the contents that had it after that
}

func newClaimer() *claimer {
	return &claimer{maphash.MakeSeed(), map[uint64]uint64{}, map[uint64][]uint64{}}
}

// claim returns the key of a record. again says that an earlier record of the
// file is the same: this one makes no events of its own. Another content under
// a key that was used before gets a number behind it.
func (c *claimer) claim(r read) (key skein.ClientID, again bool) {
	if len(r.made.Items) == 0 {
		return r.made.Key, false
	}
	key = bounded(r.made.Key, r.rec.Raw)
	k, content := maphash.String(c.seed, string(key)), c.content(r.made.Items)
	first, used := c.first[k]
	switch {
	case !used:
		c.first[k] = content
		return key, false
	case first == content:
		return key, true
	}
	for i, other := range c.more[k] {
		if other == content {
			return numbered(key, i), true
		}
	}
	c.more[k] = append(c.more[k], content)
	return numbered(key, len(c.more[k])-1), false
}

// numbered returns key for the content that came i-th after the first.
func numbered(key skein.ClientID, i int) skein.ClientID {
	return skein.ClientID(fmt.Sprintf("%s#%d", key, i+2))
}

// maxKey leaves room for the numbers that come behind a key.
const maxKey = 100

// bounded returns key, or a hash in its place: of itself if it is too long for
// a client ID or is none, of the record if there is none.
func bounded(key skein.ClientID, raw []byte) skein.ClientID {
	if key == "" {
		return "record:" + skein.ClientID(digest(raw)[:32])
	}
	if len(key) > maxKey || !cleanKey(key) {
		return "key:" + skein.ClientID(digest([]byte(key))[:32])
	}
	return key
}

func cleanKey(key skein.ClientID) bool {
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

func digest(b []byte) string {
	return string(skein.NewBlob(b).Hash)
}

func (c *claimer) content(items []Item) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, it := range items {
		if hanging(it.Event.Kind, len(items)) {
			continue
		}
		h.WriteString(it.Session + "\x00" + string(it.Event.Kind) + "\x00" + strconv.Itoa(it.To) + "\x00")
		h.Write(it.Event.Payload)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// clientID returns the client ID of event i of the n that a record makes.
func clientID(key skein.ClientID, i, n int) skein.ClientID {
	if n == 1 {
		return key
	}
	return key + "/" + skein.ClientID(strconv.Itoa(i))
}

// candidates returns the client IDs under which a record with this key may
// have its message: what else it makes depends on the records before it.
func candidates(key skein.ClientID) []skein.ClientID { return clientIDs(key, 4) }

// clientIDs returns the client IDs of what a record with this key makes, if that
// is one event or n.
func clientIDs(key skein.ClientID, n int) []skein.ClientID {
	ids := []skein.ClientID{key}
	for i := range n {
		ids = append(ids, clientID(key, i, n))
	}
	return ids
}

// shortHash returns 8 hexadecimal digits of the hash of s.
func shortHash(s string) string {
	return digest([]byte(s))[:8]
}
