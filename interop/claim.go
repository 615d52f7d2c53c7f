package interop

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// A claimer gives each record of a file a key of its own.
type claimer struct {
	seed  maphash.Seed
	first map[uint64]uint64   // by hash of the key: hash of the content that had it first
	more  map[uint64][]uint64 // and of the contents that had it after that
	makes map[uint64]int      // how many events the record made that had it first, if several
}

func newClaimer() *claimer {
	return &claimer{maphash.MakeSeed(), map[uint64]uint64{}, map[uint64][]uint64{}, map[uint64]int{}}
}

// claim returns the key of a record. again says that an earlier record of the
// file is the same: this one makes no events of its own. Another content under
// a key that was used before gets a number behind it.
func (c *claimer) claim(r read) (key skein.ClientID, again bool) {
	if len(r.made.Items) == 0 {
		return r.made.Key, false
	}
	key = bounded(r.made.Key, r.rec.Raw)
	k, content := c.hash(key), c.content(r.made.Items)
	first, used := c.first[k]
	switch n := len(r.made.Items); {
	case used && first == content:
		return key, true
	case !used && !c.clashes(key, n):
		c.first[k] = content
		if n > 1 {
			c.makes[k] = n
		}
		return key, false
	}
	for i, other := range c.more[k] {
		if other == content {
			return numbered(key, i), true
		}
	}
	c.more[k] = append(c.more[k], content)
	return numbered(key, len(c.more[k])-1), false
}

func (c *claimer) hash(key skein.ClientID) uint64 { return maphash.String(c.seed, string(key)) }

// clashes reports whether one of the client IDs of a record that makes n events
// is that of an earlier record's: a/1 is the key of one and the second event of
// another.
func (c *claimer) clashes(key skein.ClientID, n int) bool {
	for i := range n {
		if _, used := c.first[c.hash(clientID(key, i, n))]; used {
			return true
		}
	}
	of, i, ok := partOf(key)
	return ok && i < c.makes[c.hash(of)]
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
	if len(key) > maxKey || !cleanKey(key) || isEngines(key) {
		return "key:" + skein.ClientID(digest([]byte(key))[:32])
	}
	return key
}

// isEngines reports whether a client ID is of those that the engine gives to
// events that no record makes.
func isEngines(key skein.ClientID) bool {
	return key == CreatedID || key == rewoundID || strings.HasPrefix(string(key), "amended/")
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

// partOf takes a client ID of one of several events apart, as clientID made it.
func partOf(id skein.ClientID) (key skein.ClientID, i int, ok bool) {
	at := strings.LastIndexByte(string(id), '/')
	if at < 0 {
		return "", 0, false
	}
	i, err := strconv.Atoi(string(id[at+1:]))
	return id[:at], i, err == nil && i >= 0
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
