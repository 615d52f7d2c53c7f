package ranking_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/web/ranking"
)

// some are 40 sessions, many of which have the same rank.
func some() (all []skein.Session) {
	for i := range 40 {
		all = append(all, skein.Session{ID: skein.SessionID(fmt.Sprintf("s%02d", (i*17)%40)), Created: skein.Time(i % 7), Turns: i % 3})
	}
	return all
}

func seq(all []skein.Session) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Pages of a sorted list have each session once, also where many are equal.
func TestPagesHaveEachSessionOnce(t *testing.T) {
	less := map[ranking.Way]func(a, b skein.Session) bool{
		ranking.Newest:  func(a, b skein.Session) bool { return a.Created > b.Created },
		ranking.Oldest:  func(a, b skein.Session) bool { return a.Created < b.Created },
		ranking.Longest: func(a, b skein.Session) bool { return a.Turns > b.Turns },
	}
	for way, before := range less {
		var got []skein.Session
		var after *ranking.Place
		for {
			page, err := way.First(6, seq(some()), after)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			at, err := ranking.ParsePlace(way.Place(&page[len(page)-1]).String())
			if err != nil {
				t.Fatal(err)
			}
			after = &at
		}
		seen := map[skein.SessionID]bool{}
		for i, s := range got {
			if i > 0 && before(s, got[i-1]) {
				t.Errorf("%s: %+v comes after %+v", way, s, got[i-1])
			}
			seen[s.ID] = true
		}
		if len(got) != 40 || len(seen) != 40 {
			t.Errorf("%s: the pages have %d sessions, %d different ones; want 40", way, len(got), len(seen))
		}
	}
}

func TestWrongNamesAndPlacesAreRefused(t *testing.T) {
	if _, err := ranking.Parse("size"); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "newest") {
		t.Errorf("Parse(size): %v; want an error that names the ways", err)
	}
	for _, text := range []string{"", "x", "!.s", "1.", "1.a b\n"} {
		if _, err := ranking.ParsePlace(text); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("ParsePlace(%q): %v; want ErrInvalid", text, err)
		}
	}
	broken := errors.New("broken")
	_, err := ranking.Newest.First(1, func(yield func(skein.Session, error) bool) { yield(skein.Session{}, broken) }, nil)
	if !errors.Is(err, broken) {
		t.Errorf("First of a store that fails: %v; want its error", err)
	}
	if ways := ranking.Ways(); !slices.Contains(ways, ranking.Dearest) {
		t.Errorf("the ways are %v; want cost among them", ways)
	}
}
