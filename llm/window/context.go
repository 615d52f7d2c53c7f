package window

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/skein-dev/skein"
)

// A ContextView is what a model is shown on the next request, and how it
// differs from what was said.
type View struct {
	Messages  []skein.Message // that keep the rules; of a Message only ID, Role, Parts, Provider, Model and Synthetic are set
	Seqs      []skein.Seq     // for each of them the place of its first event; 0 if it stands for none
	Size      int             // bytes that Messages take, as Rules.Room counts them
	Opaque    json.RawMessage // a provider's own item that goes before the messages, for what was compacted; nil for none
	Compacted skein.Seq       // place of the compacted event whose summary or Opaque is used; 0 for none
	Repairs   []Repair        // in the order of the messages that they are about
}

// A RepairKind says what Context did to keep the rules.
type RepairKind string

// The kinds of repair.
const (
	RepairAnswered    RepairKind = "answered"    // a call without a result was answered as interrupted
	RepairDuplicate   RepairKind = "duplicate"   // a call or result stood twice and was left out once
	RepairOrphan      RepairKind = "orphan"      // a result without a call was left out
	RepairRenamed     RepairKind = "renamed"     // a call's ID or tool's name was changed
	RepairInput       RepairKind = "input"       // a call's input was made a JSON object
	RepairReasoning   RepairKind = "reasoning"   // reasoning that the provider does not take was left out
	RepairFile        RepairKind = "file"        // a file became words
	RepairPart        RepairKind = "part"        // a part that nobody takes was left out
	RepairText        RepairKind = "text"        // what is no UTF-8 was replaced, or spaces at the end left out
	RepairRole        RepairKind = "role"        // a message was given another role
	RepairEmpty       RepairKind = "empty"       // a message of which nothing was left was left out
	RepairInterrupted RepairKind = "interrupted" // a message that broke off was marked so
	RepairFirst       RepairKind = "first"       // a user message was put first
	RepairWindow      RepairKind = "window"      // older messages were left out, as Rules.Newest asks
	RepairCompaction  RepairKind = "compaction"  // a compaction that only another provider can read was not used
	RepairRoom        RepairKind = "room"        // a result, or the middle of something large, was left out, as Rules.Room asks
)

// A Repair is a difference between what was said and what is shown.
type Repair struct {
	Seq    skein.Seq // of the first event of the message that it is about
	Kind   RepairKind
	Detail string // what it is about: the ID of a call, the name of a file, a role; for people
}

// Context works out what a model is shown on its next request from events: all
// of a session up to now, in order, a fork's with those of its parent. It
// changes nothing but what it returns, so what it mends stays as it was in the
// log. The messages keep the rules r, whatever the events are.
//
// It begins with the messages of the user's that the newest compaction keeps,
// and its summary, after that all that it does not cover; only a compaction
// counts that was not rewound and that the provider can read. System messages
// that stand before all others stay. What was rewound is left
// out: after rewound{to} the context is what it was right after to, without
// amendments that came since. Pieces of one message are put together as in
// [Entries], and what was amended is used as it stands now.
//
// Every call is followed by its result; one that has none is answered as
// interrupted, in words that say what is known of its outcome from the tool
// events after its message began. What was said meanwhile comes after the
// results.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func Context(events []skein.Event, r Rules) (View, error) {
	events, err := skein.Unrewound(events)
	if err != nil {
		return View{}, err
	}
	b := builder{rules: r, states: map[string][]callState{}, open: map[string][]*round{}, answered: map[string]bool{}}
	compact, err := b.compaction(events)
	if err != nil {
		return View{}, err
	}
	entries, err := b.entries(events, compact.Compacted)
	if err != nil {
		return View{}, err
	}
	for i := range entries {
		b.take(&entries[i])
	}
	v := View{Compacted: compact.Seq}
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

// compaction returns the newest compaction that can be used; the zero one if
// there is none.
func (b *builder) compaction(events []skein.Event) (skein.Compaction, error) {
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

// entries returns the messages of the events that c does not cover, those of
// the user's that it keeps, and the system messages that stand before all
// others.
func (b *builder) entries(events []skein.Event, c skein.Compacted) ([]skein.Entry, error) {
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
