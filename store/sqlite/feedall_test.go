package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/textindex"
)

// A batch with more events than may wait for the index is indexed in the
// background, even if nothing is stored after it.
func TestOneLargeBatchIsIndexedToItsEnd(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // it was read from
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); !is(); <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("after 5 minutes: %s", what)
			}
		}
	}
	until("the index never rests", func() bool { return !s.index.awake.Load() })
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for len(evs) < indexRows+textindex.FeedRows {
		evs = append(evs, skein.Say(2, skein.UserSays("word")))
	}
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: evs}); err != nil {
		t.Fatal(err)
	}
	until("events wait for the index, and nobody feeds it", func() bool {
		l, err := s.Lag(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return l.Events == 0
	})
}
