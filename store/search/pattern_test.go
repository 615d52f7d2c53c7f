package search_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// A long text that is matched piece by piece gives the same answer as one matched
// at once.
func TestMatcherWithinABudgetMatchesTheSame(t *testing.T) {
	long := strings.Repeat("lorem ipsum dolor ", 40_000)
	for _, c := range []struct {
		q    skein.Query
		text string
		want bool
	}{
		{skein.Query{Regex: `ipsum$`}, long + "ipsum", true},
		{skein.Query{Regex: `ipsum$`}, long, false},
		{skein.Query{Regex: `^x?lorem`}, long, true},
		{skein.Query{Regex: `needle\d+`}, long + "needle42" + long, true},
		{skein.Query{Regex: `needle\d+`}, long + "needle", false},
		{skein.Query{Substring: "É ÉTÉ"}, long + "é été", true},
		{skein.Query{Substring: "nowhere"}, long + "\xff\xfe", false},
	} {
		m := matcher(t, c.q).Within(search.NewBudget(t.Context(), time.Hour))
		if got := m.MatchesText(c.text); got != c.want {
			t.Errorf("%+v matches: %v, want %v", c.q, got, c.want)
		}
		if at := m.Find(c.text); (len(at) > 0) != c.want {
			t.Errorf("%+v is found at %v, want something: %v", c.q, at, c.want)
		}
	}
}

// The work on a text ends when the budget does.
func TestMatcherEndsWithItsBudget(t *testing.T) {
	text := strings.Repeat("xy", 1<<20)
	m := matcher(t, skein.Query{Regex: "(.*)*(.*)*(.*)*x{1000}"})
	b := search.NewBudget(t.Context(), time.Millisecond)
	if m.Within(b).MatchesText(text) || !b.Spent() || b.Err() != nil {
		t.Errorf("a match without end: spent %v, %v, want all to be spent", b.Spent(), b.Err())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b = search.NewBudget(ctx, time.Hour)
	if m.Within(b).MatchesText(text) || !errors.Is(b.Err(), context.Canceled) {
		t.Errorf("a match that nobody waits for: %v, want %v", b.Err(), context.Canceled)
	}
}

// searches records the deadline of each search, and is complete at a second.
type searches []time.Duration

func (s *searches) Search(_ context.Context, q skein.Query) (skein.Results, error) {
	*s = append(*s, q.Deadline)
	return skein.Results{CutOff: q.Deadline < time.Second}, nil
}

func TestWidenGoesOnUntilAllWasLookedAt(t *testing.T) {
	for most, want := range map[time.Duration]time.Duration{0: 1600 * time.Millisecond, 300 * time.Millisecond: 300 * time.Millisecond} {
		var s searches
		last := skein.Results{CutOff: true}
		for r, err := range search.Widen(t.Context(), &s, skein.Query{Deadline: 100 * time.Millisecond}, most) {
			if err != nil {
				t.Fatal(err)
			}
			last = r
		}
		if s[0] != 100*time.Millisecond || s[len(s)-1] != want || last.CutOff != (most != 0) {
			t.Errorf("Widen up to %v searches %v, cut off %v at last; want up to %v", most, s, last.CutOff, want)
		}
		s = nil
		if _, err := search.FindSome(t.Context(), &s, skein.Query{Deadline: 100 * time.Millisecond}, most); err != nil || s[len(s)-1] != want {
			t.Errorf("FindSome up to %v searches %v, %v, and finds nothing; want up to %v", most, s, err, want)
		}
	}
}

// A repetition of what may be missing does all of its steps for each byte: 30 µs or more
// for this one. The work that is counted must not be less.
func TestLargePatternsAreCountedAtTheirWorst(t *testing.T) {
	b := search.NewBudget(t.Context(), 100*time.Millisecond)
	if matcher(t, skein.Query{Regex: "((a?){100}){9}z"}).Within(b).MatchesText(strings.Repeat("a", 4096)) || !b.Spent() {
		t.Errorf("a budget of 100 ms has %v left after 4096 bytes, want none", b.Left())
	}
}
