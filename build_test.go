package skein_test

import (
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
