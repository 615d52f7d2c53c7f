package render

import (
	"cmp"

	"github.com/skein-dev/skein"
)

// marks tracks where the messages that were rewound or compacted begin and end.
type marks struct{ rewound, compacted bool }

// before returns the lines to write before e.
func (m *marks) before(e *skein.Entry) (lines []string) {
	if m.compacted && !e.Compacted {
		lines = append(lines, "What stands above was compacted: the model sees a summary of it.")
	}
	if m.rewound && !e.Rewound {
		lines = append(lines, "The conversation goes on from before the messages that were taken back.")
	}
	if e.Rewound && !m.rewound {
		lines = append(lines, "These messages were taken back.")
	}
	m.rewound, m.compacted = e.Rewound, e.Compacted
	return lines
}

// calls numbers the calls of a document, and keeps them until their results
// come.
type calls struct {
	n    int
	open map[string]numberedCall // by ID
}

type numberedCall struct {
	name string
	n    int
}

// add returns the number of call.
func (c *calls) add(call *skein.Call) int {
	c.n++
	if call.ID != "" {
		if c.open == nil {
			c.open = map[string]numberedCall{}
		}
		c.open[call.ID] = numberedCall{call.Name, c.n}
	}
	return c.n
}

// answered returns the name of the tool whose result r is, and the number of
// its call, 0 if the call is missing.
func (c *calls) answered(r *skein.Result) (name string, n int) {
	call := c.open[r.CallID]
	delete(c.open, r.CallID)
	return cmp.Or(r.Name, call.name, "tool"), call.n
}
