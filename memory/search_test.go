package memory_test

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/memory"
)

// Whether there may be more is said of sessions that were not looked at, not of
// one that was looked through however late it became.
func TestSearchIsCutOffOnlyWhereSomethingWasNotLookedAt(t *testing.T) {
	s := memory.New()
	for _, id := range []skein.SessionID{"a", "b"} {
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("hello")),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	for in, cut := range map[skein.SessionID]bool{"a": false, "": true} {
		q, err := skein.ParseQueryAt("nowhere", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		q.Session, q.Deadline = in, 1
		if r, err := s.Search(t.Context(), q); err != nil || len(r.Hits) != 0 || r.CutOff != cut {
			t.Errorf("Search in %q = %d hits, cut off %v, %v, want none, %v", in, len(r.Hits), r.CutOff, err, cut)
		}
	}
}
