package server

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestAPageOfLongMessagesHasFewerOfThem(t *testing.T) {
	var all []skein.Entry
	for i := range 40 {
		all = append(all, skein.Entry{Seq: skein.Seq(2 + i), Message: skein.UserSays(strings.Repeat("x", 1<<20))})
	}
	store := &entryStore{all: all}
	var got []skein.Entry
	for before, more := skein.Seq(0), true; more; {
		var page []skein.Entry
		var err error
		if page, more, err = fitting(t.Context(), store, "s", 50, before); err != nil {
			t.Fatalf("fitting before %d: %v", before, err)
		}
		if len(page) == 0 {
			break
		}
		if len(page) > 2*maxPage>>20 {
			t.Errorf("a page of %d messages of 1 MB", len(page))
		}
		got, before = slices.Concat(page, got), page[0].Seq
	}
	if len(got) != len(all) || got[0].Seq != 2 {
		t.Errorf("the pages have %d messages together, want %d", len(got), len(all))
	}
}

// An entryStore has messages, and nothing else.
type entryStore struct {
	skein.Store
	all []skein.Entry
}

func (s *entryStore) Unwrap() skein.Store { return s.Store }

// Newest implements [skein.Store].
func (s *entryStore) Newest(_ context.Context, _ skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	all := s.all
	for before > 0 && len(all) > 0 && all[len(all)-1].Seq >= before {
		all = all[:len(all)-1]
	}
	return slices.Clone(all[max(0, len(all)-n):]), nil
}
