package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

// Events that wait for the index are counted, with their age; indexed ones are not.
func TestLagIsWhatWaits(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing is written
	s.index.close() // the test feeds the index
	want := func(events int, since skein.Time) {
		t.Helper()
		l, err := s.Lag(t.Context())
		if want := (inspect.Lag{Events: events, Since: since}); err != nil || l != want {
			t.Errorf("Lag = %+v, %v, want %+v", l, err, want)
		}
	}
	feed := func() {
		t.Helper()
		if err := s.indexAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want(0, 0)
	seen := skein.At(now)
	now = now.Add(time.Minute)
	addText(t, s, "a", "one", "two") // their times are in 1970, but nothing waited for the index then
	want(3, seen)
	now = now.Add(time.Minute)
	want(3, seen)
	feed()
	want(0, 0)
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{skein.Say(skein.At(now)+500, skein.UserSays("three"))}}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Second)
	want(1, skein.At(now)-500)
	feed()
	addText(t, s, "a", "four") // stored after the last look, which did not see three indexed
	now = now.Add(time.Second)
	want(1, skein.At(now)-1000)
}
