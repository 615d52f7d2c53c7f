package skillet

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A command that the person gave the program is in its log alone, and no step
// of the conversation.
func TestWhatOnlyTheLogTellsKeepsNothingFromBeingWrittenBack(t *testing.T) {
	const id = "ann@x.org:plan"
	s := newState(t)
	s.add("ann@x.org", "plan", 1000, hello, answer)
	s.log("ann_x_org/plan.jsonl", `{"kind":"user_message","userInput":"hello","timestamp":"2026-01-01T00:00:00.000Z"}`)
	s.bring()
	at := skein.Time(1e12)
	wentOn := func(text string) {
		t.Helper()
		at += 1000
		if _, err := skein.Add(t.Context(), s.store, id, skein.Say(at, skein.UserSays(text))); err != nil {
			t.Fatal(err)
		}
	}
	sync := func(events int, want error) {
		t.Helper()
		if done, err := interop.Sync(t.Context(), s.store, Format(), id); done.Events != events || !errors.Is(err, want) {
			t.Fatalf("Sync = %+v, %v, want %d events written, and %v", done, err, events, want)
		}
	}
	wentOn("one")
	sync(1, nil)
	wentOn("two")
	s.log("ann_x_org/plan.jsonl", `{"kind":"user_message","userInput":"/compact info","timestamp":"2026-01-01T00:00:01.000Z"}`)
	sync(0, interop.ErrChanged) // it says so once
	wentOn("three")
	sync(2, nil)
	sync(0, nil)
	if got, want := shown(t, s.store, id), "user hello | assistant done | user one | user two | user three"; got != want {
		t.Errorf("the session says %s, want %s", got, want)
	}
	fresh := newState(t)
	bring(t, fresh.store, s.dir)
	if got, want := shown(t, fresh.store, id), "user hello | assistant done | user one | user two | user three"; got != want {
		t.Errorf("another store reads %s, want %s", got, want)
	}
}
