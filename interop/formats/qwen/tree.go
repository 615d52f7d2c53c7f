package qwen

import (
	"hash/fnv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A tree is the records of a file by their UUIDs. The newest record is the session's
// current position.
type tree struct {
	nodes map[string]node
	some  bool
}

// A node is the session's position after a record.
type node struct{ last, steps int }

func (r *reader) settle(uuid string) {
	r.tree.some = true
	if _, again := r.tree.nodes[uuid]; uuid != "" && !again {
		r.tree.nodes[uuid] = node{r.count, r.steps}
	}
}

// enter goes to the parent of a record, by a rewound event if anything was said or
// rewound since. Records such as a title are not part of the path, so they cause no
// rewind. If the parent is not in the file, the record before is taken instead.
func (r *reader) enter(m *making) {
	parent := m.Get("parentUuid")
	if len(parent) == 0 || !r.tree.some {
		return
	}
	var to node
	if !loose.IsNull(parent) {
		p, ok := r.tree.nodes[loose.Str(parent)]
		if !ok {
			return
		}
		to = p
	}
	if _, again := r.tree.nodes[m.Str("uuid")]; again || to.steps == r.steps {
		return
	}
	r.add(m, skein.NewEvent(skein.KindRewound, m.time, skein.Rewound{})).To = to.last
	for i := len(r.said); i > 0 && r.said[i-1].before >= to.last; i-- {
		r.said = r.said[:i-1]
	}
}

// A spot is a message on the session's current path.
type spot struct {
	hash   uint64 // of its parts, unchanged
	before int    // ordinal of the item before it
}

// maxSpots is how many messages are remembered: more than a compression leaves.
const maxSpots = 4096

func (r *reader) remember(parts jsontext.Value, before int) {
	if len(r.said) >= maxSpots {
		r.said = append(r.said[:0], r.said[maxSpots/2:]...)
	}
	r.said = append(r.said, spot{hashOf(parts), before})
}

func hashOf(v jsontext.Value) uint64 {
	h := fnv.New64a()
	h.Write(v)
	return h.Sum64()
}
