package agent

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/window"
)

// A modelView works out what the model is shown of the session.
type modelView struct {
	sessionWriter
	room      int       // maximum bytes that the model is shown, set after it rejected more; 0 means no bound
	tightened skein.Seq // last seq of the session when room was set
}

// shown returns the messages of the current context, without those that only
// its summary represents, and the compaction that has the summary; nil if there
// is none.
func (v *modelView) shown(ctx context.Context) ([]skein.Entry, *summed, error) {
	events, err := v.events(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, err := skein.Entries(events)
	if err != nil {
		return nil, nil, err
	}
	last, err := v.lastSummed(events)
	if err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(entries, func(e skein.Entry) bool {
		return e.Rewound || last != nil && e.Seq <= last.what.To && !slices.Contains(last.what.Keep, e.Seq)
	}), last, nil
}

// A summed is a compaction.
type summed struct {
	at   skein.Seq
	what skein.Compacted
}

// lastSummed returns the compaction that the context begins with.
func (v *modelView) lastSummed(events []skein.Event) (*summed, error) {
	rules := window.GenericRules()
	if v.agent.Model != nil {
		rules = v.agent.Model.About().Rules
	}
	if !slices.ContainsFunc(events, func(e skein.Event) bool { return e.Kind == skein.KindCompacted }) {
		return nil, nil
	}
	shown, err := window.Context(events, rules)
	if err != nil || shown.Compacted == 0 {
		return nil, err
	}
	i := slices.IndexFunc(events, func(e skein.Event) bool { return e.Seq == shown.Compacted })
	c, err := skein.Decode[skein.Compacted](events[i])
	return &summed{shown.Compacted, c}, err
}

// asks reports whether m is a user message that has more than tool results.
func asks(m *skein.Message) bool {
	return m.Role == skein.RoleUser && slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Kind != skein.PartResult })
}
