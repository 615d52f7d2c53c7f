package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/columns"
)

// A batch that is packed as it is written is stored like any other: completely
// and once, or not at all.
func TestALongBatchIsStoredAllOrNone(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	text := strings.Repeat("the loom sings ", 1<<20/15) // a noted event's data is not searched
	b := skein.Batch{Session: "a", Events: []skein.Event{created()}}
	for i := range lateFrom>>20 + 3 {
		e := skein.NewEvent(skein.KindNoted, 2, skein.Noted{Name: "test", Data: skein.MustJSON(fmt.Sprint(i, " ", text))})
		e.ClientID = skein.ClientID(fmt.Sprint("c", i))
		b.Events = append(b.Events, e)
	}
	if !packsLate(&b) {
		t.Fatalf("a batch of %d MB is packed at once, want it late", lateFrom>>20+3)
	}
	bad := b
	bad.Events = append(b.Events[:len(b.Events):len(b.Events)], skein.Event{Kind: skein.KindSaid, Time: 2, Payload: []byte(`[]`)})
	if _, err := s.Append(t.Context(), bad); !errors.Is(err, skein.ErrInvalid) {
		t.Fatalf("Append with a bad event last = %v, want %v", err, skein.ErrInvalid)
	}
	if _, err := s.Session(t.Context(), "a"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Session after an Append that failed = %v, want %v", err, skein.ErrNotFound)
	}
	for i, want := range []int{len(b.Events), 0} {
		if i == 1 {
			b.Events = b.Events[1:] // created has no client ID
		}
		r, err := s.Append(t.Context(), b)
		if err != nil || r[0].New != want {
			t.Fatalf("Append, time %d: %d new, %v, want %d", i+1, r[0].New, err, want)
		}
	}
	n := 0
	for e, err := range s.Events(t.Context(), "a", 1) {
		if err != nil || string(e.Payload) != string(b.Events[n].Payload) || e.ClientID != b.Events[n].ClientID {
			t.Fatalf("event %d comes back as %s of %d bytes, %v", e.Seq, e.ClientID, len(e.Payload), err)
		}
		n++
	}
	if n != len(b.Events) {
		t.Errorf("%d events, want %d", n, len(b.Events))
	}
}

// The payload of a long event is released once it is packed, so that it does not take
// memory while SQLite copies the text, and is the same if it is needed again. The
// caller keeps its batch.
func TestALongPayloadIsReleasedOnceItIsPacked(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	b := skein.Batch{Session: "a", Events: []skein.Event{created(), skein.Say(1, skein.UserSays(strings.Repeat("\x01", columns.LargeFrom/4)))}}
	want := string(b.Events[1].Payload)
	p, err := s.packBatch(b)
	if err != nil {
		t.Fatal(err)
	}
	p.release(1)
	if len(b.Events[1].Payload) != len(want) {
		t.Fatalf("the caller's event has %d bytes, want %d as before", len(b.Events[1].Payload), len(want))
	}
	payload := weak.Make(&b.Events[1].Payload[0])
	if runtime.GC(); payload.Value() != nil {
		t.Error("the payload is still in memory after it was released")
	}
	if err := p.restore(1, s.pack); err != nil || string(p.events[1].Payload) != want {
		t.Errorf("restore makes %d bytes, %v, want the %d bytes of before", len(p.events[1].Payload), err, len(want))
	}
}
