package records

import (
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
)

// A UniqueKeys gives each record of a file a key of its own.
type UniqueKeys struct {
	seed  maphash.Seed
	first map[uint64]uint64   // by hash of the key: hash of the content that had it first
	more  map[uint64][]uint64 // and of the contents that had it after that
	makes map[uint64]int      // how many events the first record with this key made, if several
}

// NewUniqueKeys returns the keys of a file of which nothing has been read.
func NewUniqueKeys() *UniqueKeys {
	return &UniqueKeys{maphash.MakeSeed(), map[uint64]uint64{}, map[uint64][]uint64{}, map[uint64]int{}}
}

// KeyOf returns the key of a record. again says that an earlier record of the
// file is the same: this one makes no events of its own. If the key was used before
// with different content, a number is appended.
func (c *UniqueKeys) KeyOf(r ReadRecord) (key skein.ClientID, again bool) {
	if len(r.Made.Items) == 0 {
		return r.Made.Key, false
	}
	key = r.Made.Key
	k, content := c.hash(key), c.content(r.Made.Items)
	first, used := c.first[k]
	switch n := len(r.Made.Items); {
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

func (c *UniqueKeys) hash(key skein.ClientID) uint64 { return maphash.String(c.seed, string(key)) }

// clashes reports whether one of the client IDs of a record that makes n events
// is also an earlier record's: a/1 is the key of one and the second event of
// another.
func (c *UniqueKeys) clashes(key skein.ClientID, n int) bool {
	for i := range n {
		if _, used := c.first[c.hash(reconcile.ClientID(key, i, n))]; used {
			return true
		}
	}
	of, i, ok := reconcile.PartOf(key)
	return ok && i < c.makes[c.hash(of)]
}

// numbered returns key for the i-th different content after the first.
func numbered(key skein.ClientID, i int) skein.ClientID {
	return skein.ClientID(fmt.Sprintf("%s#%d", key, i+2))
}

// maxKey leaves room for the numbers appended to a key.
const maxKey = 100

// keyed returns r with keys that can be those of events.
func (r ReadRecord) keyed() ReadRecord {
	if len(r.Made.Items) == 0 {
		return r
	}
	r.Made.Key = bounded(r.Made.Key, r.Rec.Raw)
	if r.Made.CopyKey != "" {
		r.Made.CopyKey = bounded(r.Made.CopyKey, r.Rec.Raw)
	}
	return r
}

// bounded returns key, or a hash in its place: of the key if it is too long for or
// not valid as a client ID, of the record if key is empty.
func bounded(key skein.ClientID, raw []byte) skein.ClientID {
	if key == "" {
		return "record:" + skein.ClientID(Digest(raw)[:32])
	}
	if len(key) > maxKey || !cleanKey(key) || reconcile.Reserved(key) {
		return "key:" + skein.ClientID(Digest([]byte(key))[:32])
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

// Digest returns the SHA-256 of b, hexadecimal.
func Digest(b []byte) string {
	return string(skein.NewBlob(b).Hash)
}

func (c *UniqueKeys) content(items []interop.Item) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, it := range items {
		if reconcile.Dependent(it.Event.Kind, len(items)) {
			continue
		}
		h.WriteString(it.Session + "\x00" + string(it.Event.Kind) + "\x00" + strconv.Itoa(it.To) + "\x00")
		h.Write(it.Event.Payload)
		h.WriteByte(0)
	}
	return h.Sum64()
}
