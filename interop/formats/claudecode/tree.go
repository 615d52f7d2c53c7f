package claudecode

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// uuid is a UUID, or the hash of what is there instead.
type uuid [16]byte

func uuidOf(s string) (u uuid) {
	if len(s) == 36 {
		var b [32]byte
		n := 0
		for i := range len(s) {
			if s[i] != '-' && n < len(b) {
				b[n] = s[i]
				n++
			}
		}
		if _, err := hex.Decode(u[:], b[:]); err == nil && n == len(b) {
			return u
		}
	}
	sum := sha256.Sum256([]byte(s))
	return uuid(sum[:16])
}

// A node is a line in the tree that the parentUuids make.
type node struct {
	thread  *thread
	segment int32
	ordinal int32 // of its message; 0 if it has none
	again   bool  // a line with this UUID came before
}

type nodes map[uuid]node

// A segment is a run of lines that begins with a user's input. Lines of one segment
// may have several children, of parallel calls and of progress; continuing from a
// segment other than the newest is a rewind.
type segment struct {
	last int // ordinal of its last item while it was the newest
}

// node returns the place of a line in the tree: the segment of its parent.
func (r *reader) node(m *making) *node {
	n := &node{thread: m.thread, segment: int32(m.thread.current)}
	if m.UUID == "" {
		return n
	}
	was, again := r.nodes[uuidOf(string(m.UUID))]
	if again {
		was.again = true
		return &was
	}
	parent := m.Parent
	if parent == "" {
		parent = m.LogicalParent
	}
	if p, ok := r.nodes[uuidOf(string(parent))]; ok && parent != "" && p.thread == m.thread {
		n.segment = p.segment
	} else if parent == "" && m.Type == "user" {
		n.segment = 0
	}
	return n
}

// enter goes to the segment that a message belongs to. It appends a rewound event if
// that is not the newest; a prompt begins a new segment.
func (r *reader) enter(m *making, n *node, prompt bool) {
	t := m.thread
	if n.again || t != r.main {
		return
	}
	if int(n.segment) != t.current {
		r.add(m, t, skein.NewEvent(skein.KindRewound, m.time, skein.Rewound{}))
		m.last().To = t.segments[n.segment].last
		t.current = int(n.segment)
	}
	if prompt {
		t.current = len(t.segments)
		t.segments = append(t.segments, segment{last: t.count})
		n.segment = int32(t.current)
	}
}

// stand goes back to the line that a last-prompt line names, from which the program
// goes on: the user may have gone back without saying anything since.
func (r *reader) stand(m *making, n *node) {
	leaf, ok := r.nodes[uuidOf(string(m.Leaf))]
	if t := m.thread; ok && m.Leaf != "" && t == r.main && leaf.thread == t {
		n.segment = leaf.segment
		r.enter(m, n, false)
	}
}

// settle remembers a line.
func (r *reader) settle(m *making, n *node) {
	t := m.thread
	if int(n.segment) == t.current && !n.again {
		t.segments[t.current].last = t.count
	}
	if m.UUID != "" && !n.again {
		r.nodes[uuidOf(string(m.UUID))] = *n
	}
}

// key returns the record's key: its UUID or, for lines without one, a hash of the
// line and its number among equals. A line that a copy of the file has word for word
// has the same key there; one that contains the session's ID does not.
func (r *reader) key(m *making) skein.ClientID {
	if m.UUID != "" {
		return "cc:" + skein.ClientID(m.UUID)
	}
	h := sha256.New()
	if m.Type != "file-history-snapshot" && m.Type != "file-history-delta" {
		h.Write([]byte(r.stem))
	}
	h.Write([]byte{0})
	h.Write(m.body)
	sum := [32]byte(h.Sum(nil))
	r.equals[uuid(sum[:16])]++
	key := "cc:" + hex.EncodeToString(sum[:16])
	if n := r.equals[uuid(sum[:16])]; n > 1 {
		key += "." + strconv.Itoa(n)
	}
	return skein.ClientID(key)
}

// hide withdraws messages that the program retracted.
func (r *reader) hide(m *making) {
	for _, u := range append(m.Retracted, m.Supersedes...) {
		n, ok := r.nodes[uuidOf(u)]
		if !ok || n.ordinal == 0 {
			continue
		}
		r.add(m, n.thread, skein.NewEvent(skein.KindAmended, m.time, skein.Amended{Withdrawn: true}))
		m.last().To = int(n.ordinal)
	}
}

// threadOf returns the session that a line belongs to.
func (r *reader) threadOf(m *making) *thread {
	if !bool(m.Sidechain) || r.agent || m.UUID == "" {
		return r.main
	}
	name, id := string(m.AgentID), "agent-"+string(m.AgentID)
	if name == "" {
		if n, ok := r.nodes[uuidOf(string(m.UUID))]; ok {
			return n.thread
		}
		if n, ok := r.nodes[uuidOf(string(m.Parent))]; ok && m.Parent != "" && n.thread != r.main {
			return n.thread
		}
		name, id = string(m.UUID), string(m.UUID)
	}
	t := r.sides[name]
	if t == nil {
		t = newThread(name, skein.SessionID(id))
		r.sides[name] = t
	}
	return t
}

var _ interop.Reader = (*reader)(nil)
