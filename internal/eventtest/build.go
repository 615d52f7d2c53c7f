package eventtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// Number gives events the seqs 1, 2, 3.
func Number(events ...skein.Event) []skein.Event {
	for i := range events {
		events[i].Seq = skein.Seq(i + 1)
	}
	return events
}

func Created() skein.Event { return skein.NewEvent(skein.KindCreated, 1000, skein.Created{}) }

func User(text string) skein.Event { return skein.Say(1000, skein.UserSays(text)) }

func Assistant(id string, parts ...skein.Part) skein.Event {
	return skein.Say(1000, skein.Message{ID: id, Role: skein.RoleAssistant, Parts: parts})
}

func Results(parts ...skein.Part) skein.Event {
	return skein.Say(1000, skein.Message{Role: skein.RoleTool, Parts: parts})
}

func Call(id string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "bash", Input: []byte(`{"command":"ls"}`)}}
}

func Result(id, text string) skein.Part {
	return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text)}}
}

func Rewound(to skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindRewound, 1000, skein.Rewound{To: to})
}

func Compacted(to skein.Seq, summary string) skein.Event {
	return skein.NewEvent(skein.KindCompacted, 1000, skein.Compacted{To: to, Summary: summary})
}

func Withdrawn(seq skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindAmended, 1000, skein.Amended{Seq: seq, Withdrawn: true})
}

func Amended(seq skein.Seq, now skein.Event) skein.Event {
	return skein.NewEvent(skein.KindAmended, 1000, skein.Amended{Seq: seq, Payload: now.Payload})
}

// EntriesOf returns the entries of events. It fails the test if there is an error.
func EntriesOf(t *testing.T, events []skein.Event) []skein.Entry {
	t.Helper()
	entries, err := skein.Entries(events)
	if err != nil {
		t.Fatalf("Entries(%d events): %v", len(events), err)
	}
	return entries
}

func ToolState(call string, s skein.CallState) skein.Event {
	return skein.NewEvent(skein.KindTool, 1, skein.ToolState{Call: call, State: s})
}

func Steer(text string) skein.Event {
	return skein.Say(1, skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart(text)}})
}

func System(text string) skein.Event {
	return skein.Say(1, skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart(text)}})
}

func ShowMessage(m skein.Message) string {
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

// Facts returns the facts of e. It fails the test if there is an error.
func Facts(t *testing.T, e skein.Event) skein.Facts {
	t.Helper()
	f, err := skein.FactsOf(e)
	if err != nil {
		t.Fatalf("FactsOf(%s %.200s): %v", e.Kind, e.Payload, err)
	}
	return f
}
