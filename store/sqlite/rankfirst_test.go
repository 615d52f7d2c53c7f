package sqlite

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// Search returns the best message of each session, with the number of its
// matches, even if a condition excludes the best ones of all, and if there are
// more sessions than were asked for.
func TestSearchRanksFirstAndCountsAfterwards(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	const sessions = 60
	for round := range 5 { // the sessions' events are interleaved
		for i := range sessions {
			text := fmt.Sprintf("round %d has some words around the loom", round)
			if round == i%5 {
				text = "loom"
			}
			if round <= i%7 {
				addText(t, s, skein.SessionID(fmt.Sprintf("s%02d", i)), text)
			}
		}
	}
	for range 300 {
		b := skein.Batch{Session: "tools", Events: []skein.Event{skein.Say(3, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{skein.TextPart("loom")}})}}
		if _, err := s.Session(t.Context(), b.Session); err != nil {
			b.Events = append([]skein.Event{created()}, b.Events...)
		}
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := skein.Query{Terms: []skein.Term{{Words: []string{"loom"}}}, Role: skein.RoleUser, Limit: 40, Deadline: 20 * time.Second}
	r, err := s.Search(t.Context(), q)
	if err != nil || r.CutOff || len(r.Hits) != q.Limit {
		t.Fatalf("Search: %d hits, cut off %v, %v; want 40", len(r.Hits), r.CutOff, err)
	}
	if !slices.IsSortedFunc(r.Hits, func(a, b skein.Hit) int { return cmp.Compare(b.Score, a.Score) }) {
		t.Errorf("the hits are not best first: %+v", r.Hits)
	}
	seen := map[skein.SessionID]bool{}
	for _, h := range r.Hits {
		var i int
		if _, err := fmt.Sscanf(string(h.Session), "s%02d", &i); err != nil || seen[h.Session] {
			t.Fatalf("hit in %s, want one in each of the sessions that people spoke in", h.Session)
		}
		seen[h.Session] = true
		best := skein.Seq(2 + i%5)
		if i%5 > i%7 {
			best = h.Seq // they are all equally good
		}
		if want := min(i%7+1, 5); h.Count != want || h.Seq != best {
			t.Errorf("hit in %s at %d, %d of it, want at %d, %d", h.Session, h.Seq, h.Count, best, want)
		}
	}
	q.Each, q.Limit = true, 1000
	want := 0
	for i := range sessions {
		want += min(i%7+1, 5)
	}
	if r, err := s.Search(t.Context(), q); err != nil || len(r.Hits) != want {
		t.Errorf("Search for each finds %d, %v; want %d", len(r.Hits), err, want)
	}
}
