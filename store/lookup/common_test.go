package lookup_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/memory"
)

func TestWhatTwoSessionsHaveInCommon(t *testing.T) {
	store := memory.New()
	defer store.Close() //nolint:errcheck // of a test
	add := func(id, parent skein.SessionID, at skein.Seq, why skein.Why) {
		t.Helper()
		c := skein.Created{}
		if parent != "" {
			c.Parent = &skein.Parent{Session: parent, Seq: at, Why: why}
		}
		events := []skein.Event{skein.NewEvent(skein.KindCreated, 1, c)}
		for range 9 {
			events = append(events, skein.Say(2, skein.UserSays("go on")))
		}
		if _, err := skein.Add(t.Context(), store, id, events...); err != nil {
			t.Fatal(err)
		}
	}
	add("root", "", 0, "")
	add("early", "root", 3, skein.Fork)
	add("late", "root", 7, skein.Fork)
	add("later", "late", 9, skein.Fork)
	add("below", "late", 5, skein.Fork) // where late still shows root
	add("child", "root", 4, skein.Child)
	for _, c := range []struct {
		a, b skein.SessionID
		want skein.Seq
	}{
		{"root", "early", 3},
		{"root", "later", 7},
		{"early", "late", 3},
		{"late", "later", 9},
		{"later", "below", 5},
		{"below", "early", 3},
		{"root", "child", 0},
		{"early", "child", 0},
	} {
		for range 2 {
			a, err := store.Session(t.Context(), c.a)
			if err != nil {
				t.Fatal(err)
			}
			b, err := store.Session(t.Context(), c.b)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := lookup.Common(t.Context(), store, a, b); err != nil || got != c.want {
				t.Errorf("Common(%s, %s) is %d, %v; want %d", c.a, c.b, got, err, c.want)
			}
			c.a, c.b = c.b, c.a
		}
	}
}
