package agent

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm/window"
)

// shown returns the messages of the current context, without those that only
// its summary represents, and the compaction that has the summary; nil if there
// is none.
func (t *Thread) shown(ctx context.Context) ([]skein.Entry, *summed, error) {
	events, err := t.events(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, err := skein.Entries(events)
	if err != nil {
		return nil, nil, err
	}
	last, err := t.lastSummed(events)
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
func (t *Thread) lastSummed(events []skein.Event) (*summed, error) {
	rules := window.GenericRules()
	if t.agent.Model != nil {
		rules = t.agent.Model.About().Rules
	}
	if !slices.ContainsFunc(events, func(e skein.Event) bool { return e.Kind == skein.KindCompacted }) {
		return nil, nil
	}
	v, err := window.Context(events, rules)
	if err != nil || v.Compacted == 0 {
		return nil, err
	}
	i := slices.IndexFunc(events, func(e skein.Event) bool { return e.Seq == v.Compacted })
	c, err := skein.Decode[skein.Compacted](events[i])
	return &summed{v.Compacted, c}, err
}

// asks reports whether m is a user message that has more than tool results.
func asks(m *skein.Message) bool {
	return m.Role == skein.RoleUser && slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Kind != skein.PartResult })
}
