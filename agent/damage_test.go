package agent_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// hurt is a store in which one event of each session is damaged.
type hurt struct {
	skein.Store
	seq skein.Seq
}

func (h hurt) Unwrap() skein.Store { return h.Store }

func (h hurt) bad() error {
	return fmt.Errorf("hurt: %w", &skein.DamagedError{Seq: h.seq, Kind: skein.KindSaid, Role: skein.RoleUser, Err: errors.New("it was altered")})
}

func (h hurt) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for e, err := range h.Store.Events(ctx, id, after) {
			if err == nil && e.Seq == h.seq {
				yield(skein.Event{}, h.bad())
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (h hurt) Window(ctx context.Context, id skein.SessionID, n int) ([]skein.Event, error) {
	all, err := h.Store.Window(ctx, id, n)
	for _, e := range all {
		if e.Seq == h.seq {
			return nil, h.bad()
		}
	}
	return all, err
}

// A session with a damaged event continues: the model is shown that the event
// is damaged, and the rest.
func TestATurnGoesAroundADamagedEvent(t *testing.T) {
	g := open(t, says("one"))
	store := g.store.(*memory.Store)
	g.say("first", "one")
	damaged := skein.Seq(0)
	for e, err := range store.Events(t.Context(), g.ID(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == skein.KindSaid && strings.Contains(string(e.Payload), "first") {
			damaged = e.Seq
		}
	}
	g.options.Store = hurt{store, damaged}
	g.again(says("two"))
	g.say("second", "two")
	shown := g.model.requests[len(g.model.requests)-1].Messages
	if len(shown) != 3 || !strings.Contains(showMessage(shown[0]), "is damaged") || !strings.Contains(showMessage(shown[1]), "one") || !strings.Contains(showMessage(shown[2]), "second") {
		t.Errorf("the model is shown %+v, want what is damaged as such, the answer and the new prompt", shown)
	}
}
