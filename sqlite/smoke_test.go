package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/sqlite"
)

func open(t testing.TB, name string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestSmoke(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "a ? b", "x#.db"))
	ctx := t.Context()
	at := skein.Time(1795230386123)
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, at, skein.Created{Title: "hello", Project: "/p"})}
	for i := range 20 {
		e := skein.Say(at+skein.Time(i), skein.UserSays(fmt.Sprintf("message %d with some text that is long enough to be referred to", i)))
		e.ClientID = skein.ClientID(fmt.Sprint("c", i))
		evs = append(evs, e)
	}
	for range 2 {
		if _, err := s.Append(ctx, skein.Batch{Session: "s1", Events: evs[:1], After: skein.Fresh}); err != nil {
			t.Log(err)
		}
		r, err := s.Append(ctx, skein.Batch{Session: "s1", Events: evs[1:]})
		t.Log(r, err)
	}
	x, err := s.Session(ctx, "s1")
	t.Logf("%+v %v", x, err)
	n := 0
	for e, err := range s.Events(ctx, "s1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if string(e.Payload) != string(evs[n].Payload) {
			t.Errorf("%s != %s", e.Payload, evs[n].Payload)
		}
		n++
	}
	t.Log(n)
	es, err := s.Newest(ctx, "s1", 3, 0)
	t.Log(len(es), es, err)
	for x, err := range s.Sessions(ctx, skein.Filter{Project: "/p"}) {
		t.Log(x.ID, err)
	}
	d, err := s.Delete(ctx, "s1", skein.Deletion{})
	t.Log(d, err)
	_, err = s.Session(ctx, "s1")
	t.Log(err)
}
