package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/search"
)

// CutOff is set if and only if something was not searched.
func TestSearchIsCutOffOnlyWhereSomethingWasNotLookedAt(t *testing.T) {
	s := memory.New()
	long := strings.Repeat("hello ", 200_000) // more than the minimum budget of a search
	for _, id := range []skein.SessionID{"a", "b"} {
		if _, err := s.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays(long)),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	for deadline, cut := range map[time.Duration]bool{time.Minute: false, 1: true} {
		q, err := search.ParseAt("nowhere", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		q.Deadline = deadline
		if r, err := s.Search(t.Context(), q); err != nil || len(r.Hits) != 0 || r.CutOff != cut {
			t.Errorf("Search for %v = %d hits, cut off %v, %v, want none, %v", deadline, len(r.Hits), r.CutOff, err, cut)
		}
	}
}
