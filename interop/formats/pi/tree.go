package pi

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A tree is the entries of a file by their IDs. The newest entry is the session's
// current position.
type tree struct {
	nodes  map[string]node
	leaf   string
	before []int // for each record that is JSON, how many items there were before it
}

// A node is the items of an entry: those after before, up to last.
type node struct{ before, last int }

func newTree() tree { return tree{nodes: map[string]node{}} }

// settle makes an entry the leaf.
func (t *tree) settle(id string, before, last int) {
	if id != "" {
		t.nodes[id] = node{before, last}
		t.leaf = id
	}
}

// index counts a record, for files whose compactions name entries by number.
func (t *tree) index(before int) { t.before = append(t.before, before) }

// enter goes to the parent of an entry, by a rewound event if that is not the newest.
// If the parent is not in the file, the entry before is taken instead.
func (r *reader) enter(m *making) {
	parent, t := m.Get("parentId"), &r.tree
	if id(m.Object) == "" || len(parent) == 0 || t.leaf == "" {
		return
	}
	to := 0
	if !loose.IsNull(parent) {
		p, ok := t.nodes[loose.Str(parent)]
		if !ok || loose.Str(parent) == t.leaf {
			return
		}
		to = p.last
	}
	if to != r.count {
		r.add(m, skein.NewEvent(skein.KindRewound, m.time, skein.Rewound{})).To = to
	}
}

// kept returns the ordinal of the last item that a compaction covers: the one before
// the entry that it names, else the last so far.
func (r *reader) kept(o loose.Object) int {
	if n, ok := r.tree.nodes[loose.Str(o.Get("firstKeptEntryId"))]; ok {
		return n.before
	}
	if i := o.Count("firstKeptEntryIndex"); i > 0 && i < int64(len(r.tree.before)) {
		return r.tree.before[i]
	}
	return r.count
}

// id returns the ID of an entry.
func id(o loose.Object) string { return loose.Str(o.Get("id")) }

// keyPrefix is the prefix of the keys of what is read from pi's files.
const keyPrefix = "pi:"

// key returns the record's key: the entry's ID and time, so that a copy in another
// file has the same one. Entries of the first version have no ID; when the program
// reads such a file it gives them one, after all their other members. For these
// entries, before and after, the key is a hash of what they make.
func (r *reader) key(m *making) skein.ClientID {
	own := false
	for _, f := range m.Object {
		if f.Name == "id" || f.Name == "timestamp" {
			own = f.Name == "id"
			break
		}
	}
	if own {
		return skein.ClientID(keyPrefix + id(m.Object) + ":" + strconv.FormatInt(int64(m.time), 10))
	}
	h := sha256.New()
	h.Write([]byte(m.kind + "\x00" + loose.Str(m.Get("timestamp")) + "\x00"))
	for _, it := range m.out.Items {
		if it.Event.Kind != skein.KindRewound {
			h.Write([]byte(it.Event.Kind))
			h.Write([]byte{0})
			h.Write(it.Event.Payload)
		}
	}
	sum := base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
	r.equals[sum]++
	return skein.ClientID(keyPrefix + sum + "." + strconv.Itoa(r.equals[sum]))
}
