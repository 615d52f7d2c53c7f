package render

import "github.com/skein-dev/skein"

// marks notice where the messages that were taken back or compacted begin and
// end.
type marks struct{ rewound, compacted bool }

// before returns what to say before e.
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

// calls remembers the names of tools until their results come.
type calls map[string]string

func (c calls) add(call *skein.Call) {
	if call.ID != "" {
		c[call.ID] = call.Name
	}
}

// name returns the name of the tool that r comes from.
func (c calls) name(r *skein.Result) string {
	name := r.Name
	if name == "" {
		name = c[r.CallID]
	}
	delete(c, r.CallID)
	if name == "" {
		name = "tool"
	}
	return name
}
