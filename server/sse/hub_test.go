package sse

import (
	"context"
	"strings"
	"testing"
)

func TestReadersShareALongFrame(t *testing.T) {
	long := []byte(strings.Repeat("x", 2*batchBytes))
	h := newHub(KeepOfAll, func(context.Context) Places {
		return func(yield func(Place, error) bool) {
			_ = yield(Place{ID: "0"}, nil) && yield(Place{ID: "1", Frame: []byte("a")}, nil) && yield(Place{ID: "2", Frame: long}, nil) && yield(Place{ID: "3", Frame: []byte("b")}, nil)
		}
	})
	<-h.done
	for range 2 {
		var got [][]byte
		h.Read(t.Context(), 0, "", func(b []byte, _ error) bool {
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
