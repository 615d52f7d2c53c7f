package window

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
)

// A ContextView is what a model is shown on the next request, and how it differs from
// what was said.
type ContextView struct {
	Messages  []skein.Message // they keep the rules; only ID, Role, Parts, Provider, Model and Synthetic are set
	Seqs      []skein.Seq     // for each message, the seq of its first event; 0 if it has none
	Size      int             // bytes of Messages, as Rules.Room counts them
	Opaque    json.RawMessage // a provider's own item before the messages, for what was compacted; nil for none
	Compacted skein.Seq       // seq of the compacted event whose summary or Opaque is used; 0 for none
	Repairs   []Repair        // in the order of their messages
}

// A RepairKind says what Context changed to keep the rules.
type RepairKind string

// The kinds of repair.
const (
	RepairAnswered    RepairKind = "answered"    // a call without a result was answered as interrupted
	RepairDuplicate   RepairKind = "duplicate"   // a call or result occurred twice and was left out once
	RepairOrphan      RepairKind = "orphan"      // a result without a call was left out
	RepairRenamed     RepairKind = "renamed"     // a call's ID or tool's name was changed
	RepairInput       RepairKind = "input"       // a call's input was made a JSON object
	RepairReasoning   RepairKind = "reasoning"   // reasoning that the provider does not accept was left out
	RepairFile        RepairKind = "file"        // a file was replaced by a description
	RepairPart        RepairKind = "part"        // a part that no provider accepts was left out
	RepairText        RepairKind = "text"        // invalid UTF-8 was replaced, or trailing spaces were removed
	RepairRole        RepairKind = "role"        // a message was given another role
	RepairEmpty       RepairKind = "empty"       // a message without any remaining part was left out
	RepairInterrupted RepairKind = "interrupted" // a message that broke off was marked as interrupted
	RepairFirst       RepairKind = "first"       // a user message was added at the beginning
	RepairWindow      RepairKind = "window"      // older messages were left out because of Rules.Newest
	RepairCompaction  RepairKind = "compaction"  // a compaction that only another provider can read was not used
	RepairRoom        RepairKind = "room"        // a result, or the middle of something large, was left out because of Rules.Room
)

// A Repair is a difference between what was said and what is shown.
type Repair struct {
	Seq    skein.Seq // of the first event of the affected message
	Kind   RepairKind
	Detail string // the ID of a call, the name of a file, a role; for people
}

// Context computes what a model is shown on its next request from events: all
// of a session so far, in order, a fork's with those of its parent. It does not
// modify events, so what it repairs stays in the log as it was. The messages
// keep the rules r, whatever the events are.
//
// It begins with the user messages that the newest compaction keeps and its
// summary, followed by everything that it does not cover; a compaction counts
// only if it was not rewound and the provider can read it. System messages that
// precede all others stay. What was rewound is left out: after rewound{to} the
// context is what it was right after to, without later amendments. Pieces of
// one message are joined as in [skein.Entries], and amended messages have their
// current text.
//
// Every call is followed by its result; a call without one is answered as
// interrupted, with a text that says what is known of its outcome from the tool
// events after its message began. What was said meanwhile comes after the
// results.
//
// The error wraps [skein.ErrInvalid] if a payload does not fit its kind.
func Context(events []skein.Event, r Rules) (ContextView, error) {
	events, err := skein.Unrewound(events)
	if err != nil {
		return ContextView{}, err
	}
	b := contextBuilder{rules: r, states: map[string][]callState{}, open: map[string][]*round{}, answered: map[string]bool{}}
	compact, err := b.compaction(events)
	if err != nil {
		return ContextView{}, err
	}
	entries, err := b.entries(events, compact.Compacted)
	if err != nil {
		return ContextView{}, err
	}
	for i := range entries {
		b.take(&entries[i])
	}
	v := ContextView{Compacted: compact.Seq}
	if r.Opaque {
		v.Opaque = compact.Opaque
	}
	var summary string
	if v.Opaque == nil {
		summary = compact.Summary
	}
	v.Messages, v.Seqs = b.shape(compact.To, summary)
	v.Size = sizeOf(v.Messages)
	slices.SortStableFunc(b.repairs, func(a, b Repair) int { return cmp.Compare(a.Seq, b.Seq) })
	v.Repairs = b.repairs
	return v, nil
}

// compaction returns the newest compaction that can be used, or the zero one.
func (b *contextBuilder) compaction(events []skein.Event) (skein.Compaction, error) {
	var f skein.EntryBuilder
	for _, e := range events {
		if e.Kind == skein.KindCompacted || e.Kind == skein.KindAmended {
			if err := f.Add(e); err != nil {
				return skein.Compaction{}, err
			}
		}
	}
	for _, c := range slices.Backward(f.Compactions()) {
		switch {
		case c.Failed:
		case c.Opaque != nil && !b.rules.Opaque && c.Summary == "":
			b.repair(c.Seq, RepairCompaction, "")
		default:
			return c, nil
		}
	}
	return skein.Compaction{}, nil
}

// entries returns the messages of the events that c does not cover, the user
// messages that it keeps, and the system messages that precede all others.
func (b *contextBuilder) entries(events []skein.Event, c skein.Compacted) ([]skein.Entry, error) {
	var f skein.EntryBuilder
	leading, kept := true, map[string]bool{}
	for _, e := range events {
		switch e.Kind {
		case skein.KindSaid:
			if e.Seq > c.To {
				break
			}
			m, err := skein.Decode[skein.Message](e)
			if err != nil {
				return nil, err
			}
			leading = leading && m.Role == skein.RoleSystem
			if !leading && !kept[m.ID] && !(slices.Contains(c.Keep, e.Seq) && (m.Role == skein.RoleUser || m.Role == skein.RoleSteer)) {
				continue
			}
			if !leading && m.ID != "" {
				kept[m.ID] = true // its other pieces too
			}
		case skein.KindTool:
			t, err := skein.Decode[skein.ToolState](e)
			if err != nil {
				return nil, err
			}
			b.states[t.Call] = append(b.states[t.Call], callState{e.Seq, t.State})
			continue
		case skein.KindAmended:
		default:
			continue
		}
		if err := f.Add(e); err != nil {
			return nil, err
		}
	}
	return f.Entries(), nil
}
