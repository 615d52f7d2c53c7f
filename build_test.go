package skein_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// number gives events the seqs 1, 2, 3.
func number(events ...skein.Event) []skein.Event {
	for i := range events {
		events[i].Seq = skein.Seq(i + 1)
	}
	return events
}

func created() skein.Event { return skein.NewEvent(skein.KindCreated, 1000, skein.Created{}) }

func user(text string) skein.Event { return skein.Say(1000, skein.UserSays(text)) }

func assistant(id string, parts ...skein.Part) skein.Event {
	return skein.Say(1000, skein.Message{ID: id, Role: skein.RoleAssistant, Parts: parts})
}

func results(parts ...skein.Part) skein.Event {
	return skein.Say(1000, skein.Message{Role: skein.RoleTool, Parts: parts})
}

func call(id string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "bash", Input: []byte(`{"command":"ls"}`)}}
}

func result(id, text string) skein.Part {
	return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text)}}
}

func rewound(to skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindRewound, 1000, skein.Rewound{To: to})
}

func compacted(to skein.Seq, summary string) skein.Event {
	return skein.NewEvent(skein.KindCompacted, 1000, skein.Compacted{To: to, Summary: summary})
}

func withdrawn(seq skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindAmended, 1000, skein.Amended{Seq: seq, Withdrawn: true})
}

func amended(seq skein.Seq, now skein.Event) skein.Event {
	return skein.NewEvent(skein.KindAmended, 1000, skein.Amended{Seq: seq, Payload: now.Payload})
}

// entriesOf fails the test if the events are no entries.
func entriesOf(t *testing.T, events []skein.Event) []skein.Entry {
	t.Helper()
	entries, err := skein.Entries(events)
	if err != nil {
		t.Fatalf("Entries(%d events): %v", len(events), err)
	}
	return entries
}

func toolState(call string, s skein.CallState) skein.Event {
	return skein.NewEvent(skein.KindTool, 1, skein.ToolState{Call: call, State: s})
}

func steer(text string) skein.Event {
	return skein.Say(1, skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart(text)}})
}

func system(text string) skein.Event {
	return skein.Say(1, skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart(text)}})
}

func showMessage(m skein.Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", m.Role)
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			fmt.Fprintf(&b, " call(%s %s)", p.Call.ID, p.Call.Input)
		case p.Result != nil:
			fmt.Fprintf(&b, " result(%s %q)", p.Result.CallID, p.Result.Text)
		case p.File != nil:
			fmt.Fprintf(&b, " file(%s)", p.File.Name)
		default:
			fmt.Fprintf(&b, " %s(%q%s)", p.Kind, p.Text, p.Raw)
		}
	}
	return b.String() + "\n"
}

// facts fails the test if e has none.
func facts(t *testing.T, e skein.Event) skein.Facts {
	t.Helper()
	f, err := skein.FactsOf(e)
	if err != nil {
		t.Fatalf("FactsOf(%s %.200s): %v", e.Kind, e.Payload, err)
	}
	return f
}
