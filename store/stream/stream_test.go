package stream_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/stream"
)

// A sequence of pages can be read twice, and ends with the first error.
func TestPagesBeginAnewEachTime(t *testing.T) {
	broken := errors.New("broken")
	pages := stream.Pages(t.Context(), 1, func(at *int) (page []int, more bool, err error) {
		if *at > 4 {
			return nil, false, broken
		}
		page = []int{*at, *at + 1}
		*at += 2
		return page, true, nil
	})
	for range 2 {
		var got []int
		var last error
		for n, err := range pages {
			if last = err; err == nil {
				got = append(got, n)
			}
		}
		if want := []int{1, 2, 3, 4}; !slices.Equal(got, want) || !errors.Is(last, broken) {
			t.Errorf("the pages have %v and then %v, want %v and then %v", got, last, want, broken)
		}
	}
}

// The first watcher starts what wakes watchers, and the last one ends it.
func TestWakersWorkOnlyWhileSomebodyWatches(t *testing.T) {
	began, ended := 0, 0
	w := stream.NewWakers(func() (func(), error) {
		began++
		return func() { ended++ }, nil
	})
	for round := 1; round <= 2; round++ {
		var stops []func()
		for range 3 {
			stop, err := w.Start()
			if err != nil {
				t.Fatal(err)
			}
			stops = append(stops, stop)
		}
		if began != round || ended != round-1 || w.Idle() {
			t.Errorf("with watchers: began %d times, ended %d times, idle %v; want %d, %d, false", began, ended, w.Idle(), round, round-1)
		}
		for _, stop := range stops {
			stop()
		}
		if ended != round || !w.Idle() {
			t.Errorf("without watchers: ended %d times, idle %v; want %d, true", ended, w.Idle(), round)
		}
	}
}

// A watch ends with an error if another session takes the place of the watched one.
func TestWatchNoticesAnotherSession(t *testing.T) {
	n := int64(0)
	w := stream.Watched{Session: "a", Wakers: stream.NewWakers(nil), Page: func(after skein.Seq) ([]skein.Event, int64, error) {
		n++
		return []skein.Event{{Seq: after + 1}}, n, nil
	}}
	var got []skein.Seq
	err := w.Follow(t.Context(), func(e skein.Event, _ error) bool {
		got = append(got, e.Seq)
		return true
	})
	if !errors.Is(err, skein.ErrNotFound) || len(got) != 1 {
		t.Errorf("Follow yields %v and then %v, want one event and then %v", got, err, skein.ErrNotFound)
	}
}

func TestACursorStandsForOnePlace(t *testing.T) {
	for c, want := range map[skein.Cursor]int64{"": 0, "0": 0, "12": 12, skein.FeedNow: -1, stream.Cursor(9): 9} {
		if at, err := stream.Place(c); at != want || err != nil {
			t.Errorf("Place(%q) = %d, %v, want %d", c, at, err, want)
		}
	}
	for _, c := range []skein.Cursor{"-1", "+1", "01", "1.5", "x", "99999999999999999999"} {
		if at, err := stream.Place(c); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Place(%q) = %d, %v, want ErrInvalid", c, at, err)
		}
	}
}
