package skillet

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/search"
)

// A command to the program is only in its log, and is not a step of the conversation.
func TestWhatOnlyTheLogTellsKeepsNothingFromBeingWrittenBack(t *testing.T) {
	const id = "ann_x_org:plan"
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
		if done, err := writeback.Sync(t.Context(), s.store, Format(), id); done.Events != events || !errors.Is(err, want) {
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
	s.log("ann_x_org/plan.jsonl", `{"kind":"user_message","userInput":"/compact","timestamp":"2026-01-01T00:00:02.000Z"}`,
		`{"kind":"step","stepResult":{"type":"text","text":"Compacted apples: 9 items."},"timestamp":"2026-01-01T00:00:02.000Z"}`,
		`{"kind":"final_result","finalResult":{"text":"Compacted apples: 9 items."},"timestamp":"2026-01-01T00:00:02.000Z"}`)
	s.bring()
	for _, store := range []skein.Store{s.store, read(t, s.dir)} {
		if hits := found(t, store, "apples"); len(hits) != 1 || hits[0] != id {
			t.Errorf("what the log alone has is found in %v, want it in %s", hits, id)
		}
	}
	if got, want := shown(t, s.store, id), "user hello | assistant done | user one | user two | user three"; got != want {
		t.Errorf("the session says %s, want %s", got, want)
	}
	fresh := newState(t)
	bring(t, fresh.store, s.dir)
	if got, want := shown(t, fresh.store, id), "user hello | assistant done | user one | user two | user three"; got != want {
		t.Errorf("another store reads %s, want %s", got, want)
	}
}

// read returns a store that has read dir for the first time.
func read(t *testing.T, dir string) skein.Store {
	s := newState(t)
	bring(t, s.store, dir)
	return s.store
}

// found returns the sessions in which a word is found.
func found(t *testing.T, s skein.Store, word string) (in []skein.SessionID) {
	t.Helper()
	q, err := search.Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	q.Rewound = true // the conversation in the program's own records continues without it
	hits, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits.Hits {
		in = append(in, h.Session)
	}
	return in
}
