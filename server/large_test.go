package server

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestReadersShareALongFrame(t *testing.T) {
	long := []byte(strings.Repeat("x", 2*batchBytes))
	h := newHub(keepOfAll, func(context.Context) places {
		return func(yield func(place, error) bool) {
			_ = yield(place{id: "0"}, nil) && yield(place{id: "1", frame: []byte("a")}, nil) && yield(place{id: "2", frame: long}, nil) && yield(place{id: "3", frame: []byte("b")}, nil)
		}
	})
	<-h.done
	for range 2 {
		var got [][]byte
		h.read(t.Context(), 0, "", func(b []byte, _ error) bool {
			got = append(got, b)
			return true
		})
		if len(got) != 3 || string(got[0]) != "a" || &got[1][0] != &long[0] || string(got[2]) != "b" {
			t.Errorf("%d frames, want three, the second the very bytes that the hub keeps", len(got))
		}
	}
}

func TestALongFrameIsSentBeforeTheNextIsAskedFor(t *testing.T) {
	long := []byte(strings.Repeat("x", 2*batchBytes))
	to, sent := make(chan []byte), make(chan struct{})
	asked := make(chan int, 3)
	go func() {
		defer close(to)
		pump(t.Context(), func(yield func([]byte, error) bool) { //nolint:errcheck // there is none
			for n := range 2 {
				if asked <- n; !yield(long, nil) {
					return
				}
			}
		}, to, sent)
	}()
	<-to
	select {
	case n := <-asked:
		if n != 0 {
			t.Errorf("number %d is asked for first", n)
		}
	default:
		t.Error("a frame came that was not asked for")
	}
	if len(asked) != 0 {
		t.Error("the next frame is asked for before the long one was sent")
	}
	sent <- struct{}{}
	<-to
	sent <- struct{}{}
	if _, ok := <-to; ok {
		t.Error("more came than there is")
	}
}

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
