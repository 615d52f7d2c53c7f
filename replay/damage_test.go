package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/replay"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/memory"
)

// hurt is a store in which the event at a place is damaged.
type hurt struct {
	skein.Store
	bad skein.DamagedError
}

func (h hurt) Unwrap() skein.Store { return h.Store }

func (h hurt) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for e, err := range h.Store.Events(ctx, id, after) {
			if err == nil && e.Seq == h.bad.Seq {
				yield(skein.Event{}, &h.bad)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestWhatStandsInForADamagedEventIsNamed(t *testing.T) {
	from := memory.New()
	noErr := func(_ skein.Seq, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	say := func(text string) skein.Event { return skein.Say(noon, skein.UserSays(text)) }
	noErr(skein.Add(t.Context(), from, "a", say("one"), say("two"), say("three")))
	fork := skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 3, Why: skein.Fork}})
	noErr(skein.Add(t.Context(), from, "f", fork, say("own")))
	for _, c := range []struct {
		id   skein.SessionID
		seq  skein.Seq
		kind skein.Kind
	}{{"a", 1, skein.KindCreated}, {"a", 3, skein.KindSaid}, {"f", 2, skein.KindSaid}, {"f", 4, skein.KindCreated}, {"f", 5, ""}} {
		bad := hurt{from, skein.DamagedError{Seq: c.seq, Time: noon, Kind: c.kind, Role: skein.RoleUser, Err: skein.ErrSum}}
		if _, err := replay.Write(t.Context(), &bytes.Buffer{}, bad, c.id); !errors.Is(err, skein.ErrCorrupt) {
			t.Errorf("Write of what is not to go around damage = %v, want %v", err, skein.ErrCorrupt)
		}
		told := 0
		var log bytes.Buffer
		around := lenient.Store(bad, func(skein.SessionID, *skein.DamagedError) { told++ })
		if _, err := replay.Write(t.Context(), &log, around, c.id); err != nil || told == 0 {
			t.Errorf("Write of %s with event %d damaged = %v, and tells of it %d times", c.id, c.seq, err, told)
			continue
		}
		to := memory.New()
		for i, s := range []skein.Store{to, to, from} {
			done, err := replay.Load(t.Context(), s, bytes.NewReader(log.Bytes()), replay.Options{})
			if err != nil || done.Damaged != 1 || !strings.Contains(done.Damage[0], bad.bad.Error()) {
				t.Errorf("load %d of %s with event %d damaged = %+v, %v, want that it is named", i, c.id, c.seq, done, err)
			}
		}
		noErr(skein.Add(t.Context(), from, c.id, say("and more")))
		log.Reset()
		if _, err := replay.Write(t.Context(), &log, from, c.id); err != nil {
			t.Fatal(err)
		}
		for _, s := range []skein.Store{to, bad} { // the event itself comes after its placeholder, or is damaged
			done, err := replay.Load(t.Context(), s, bytes.NewReader(log.Bytes()), replay.Options{})
			if err != nil || done.Damaged != 1 || !strings.Contains(done.Damage[0], fmt.Sprintf("event %d is damaged here", c.seq)) {
				t.Errorf("load of %s with event %d as it was = %+v, %v, want that it is named", c.id, c.seq, done, err)
			}
		}
		if got, want := eventsOf(t, to, c.id), eventsOf(t, from, c.id); len(got) != len(want) {
			t.Errorf("%s with event %d damaged is loaded as %d events, want %d", c.id, c.seq, len(got), len(want))
		}
	}
}
