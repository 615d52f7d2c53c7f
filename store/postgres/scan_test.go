package postgres

import (
	"testing"

	"github.com/skein-dev/skein"
)

// The segments that a fork shows are scanned one by one, only until there are enough
// hits.
func TestSearchOfAForkStopsWhenThereAreEnough(t *testing.T) {
	s := opened(t)
	long(t, s, "a", 4)
	fork(t, s, "f", "a", 5)
	for range 3 {
		if _, err := skein.Add(t.Context(), s, "f", skein.Say(noon, skein.UserSays("xx needle, message of the fork"))); err != nil {
			t.Fatal(err)
		}
	}
	s.caughtUp(t)
	for _, q := range []skein.Query{{Substring: "x"}, {Regex: "[nx]"}, {Substring: "ne"}, {Regex: "e"}, {Terms: []skein.Term{{Words: []string{"nothing"}, Not: true}}}} {
		q.Session, q.Each, q.Limit = "f", true, 2
		r, err := s.Search(t.Context(), q)
		if err != nil || len(r.Hits) != 2 || r.Hits[0].Session != "f" || r.Hits[0].Seq < 8 {
			t.Errorf("Search(%+v) = %+v, %v, want the two newest", q, r, err)
		}
	}
}
