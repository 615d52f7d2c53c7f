package claudecode

import (
	"crypto/sha256"
	"encoding/hex"

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

// A tree holds the lines of a file, so that a rewind is recognized.
type tree struct {
	*threads

	nodes   nodes
	awaited map[uuid]int32 // segments of lines whose parent has not come yet, by its UUID
}

// node returns the place of a line in the tree: the segment of its parent. If that
// segment's own beginning came later, it is the later one: the program writes in the
// background, and a quick answer can come before its prompt.
func (tr *tree) node(m *making) *node {
	n := &node{thread: m.thread, segment: int32(m.thread.current)}
	if m.UUID == "" {
		return n
	}
	was, again := tr.nodes[uuidOf(string(m.UUID))]
	if again {
		was.again = true
		return &was
	}
	parent := m.Parent
	if parent == "" {
		parent = m.LogicalParent
	}
	switch p, ok := tr.nodes[uuidOf(string(parent))]; {
	case parent == "" && m.Type == "user":
		n.segment = 0
	case parent == "":
	case !ok:
		tr.awaited[uuidOf(string(parent))] = n.segment
	case p.thread == m.thread:
		n.segment = m.thread.latest(p.segment)
	}
	return n
}

// enter goes to the segment that a message belongs to. It appends a rewound event if
// that is not the newest; a prompt begins a new segment.
func (tr *tree) enter(m *making, n *node, prompt bool) {
	t := m.thread
	if n.again || t != tr.main {
		return
	}
	if int(n.segment) != t.current {
		tr.add(m, t, skein.NewEvent(skein.KindRewound, m.time, skein.Rewound{}))
		m.last().To = t.segments[n.segment].last
		t.current = int(n.segment)
	}
	if prompt {
		t.current = len(t.segments)
		t.segments = append(t.segments, segment{last: t.count})
		n.segment = int32(t.current)
	}
}

// resume goes back to the line that a last-prompt line names, from which the program
// continues: the user may have gone back without saying anything since.
func (tr *tree) resume(m *making, n *node) {
	leaf, ok := tr.nodes[uuidOf(string(m.Leaf))]
	if t := m.thread; ok && m.Leaf != "" && t == tr.main && leaf.thread == t {
		n.segment = leaf.segment
		tr.enter(m, n, false)
	}
}

// settle remembers a line.
func (tr *tree) settle(m *making, n *node) {
	t := m.thread
	if int(n.segment) == t.current && !n.again {
		t.segments[t.current].last = t.count
	}
	if m.UUID == "" || n.again {
		return
	}
	id := uuidOf(string(m.UUID))
	tr.nodes[id] = *n
	if early, ok := tr.awaited[id]; ok {
		delete(tr.awaited, id)
		t.segments[early].later = max(t.segments[early].later, n.segment)
	}
}

// hide withdraws messages that the program retracted.
func (tr *tree) hide(m *making) {
	for _, u := range append(m.Retracted, m.Supersedes...) {
		n, ok := tr.nodes[uuidOf(u)]
		if !ok || n.ordinal == 0 {
			continue
		}
		tr.add(m, n.thread, skein.NewEvent(skein.KindAmended, m.time, skein.Amended{Withdrawn: true}))
		m.last().To = int(n.ordinal)
	}
}

// threadOf returns the session that a line belongs to.
func (tr *tree) threadOf(m *making) *thread {
	if !bool(m.Sidechain) || tr.agent || m.UUID == "" {
		return tr.main
	}
	name, id := string(m.AgentID), "agent-"+string(m.AgentID)
	if name == "" {
		if n, ok := tr.nodes[uuidOf(string(m.UUID))]; ok {
			return n.thread
		}
		if n, ok := tr.nodes[uuidOf(string(m.Parent))]; ok && m.Parent != "" && n.thread != tr.main {
			return n.thread
		}
		name, id = string(m.UUID), string(m.UUID)
	}
	t := tr.sides[name]
	if t == nil {
		t = newThread(name, skein.SessionID(id))
		tr.sides[name] = t
	}
	return t
}

var _ interop.Reader = (*reader)(nil)
