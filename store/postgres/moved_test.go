package postgres

import (
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/inspect"
)

// A database that was restored from a dump of another cluster, whose transaction IDs
// were greater, still works: new events are found, the index is built, the feed has
// everything in order, and old cursors are refused.
func TestARestoredDatabaseGoesOn(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a", "first", "second")
	addText(t, s, "b", "third")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	var old skein.Cursor
	for f := range s.Feed(t.Context(), "") {
		old = f.Cursor
		break
	}
	err := s.write(t.Context(), func(x *tx) error {
		if err := x.lockIndex(); err != nil {
			return err
		}
		p := x.pipe()
		p.Exec(`UPDATE journal SET xid = (xid::text::bigint + 5000000000)::text::xid8`)
		p.Exec(`UPDATE indexed SET journal = 'another', xid = (xid::text::bigint + 5000000000)::text::xid8`)
		return p.Run()
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var notices []string
	again, err := Open(t.Context(), dsn, Options{Notice: func(n string) { notices = append(notices, n) }})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close() //nolint:errcheck // a test's
	if len(notices) != 1 {
		t.Errorf("Open tells %q, want one notice", notices)
	}
	if l := again.lag(t); l != (inspect.Lag{}) {
		t.Errorf("Lag = %+v of a restored database that was indexed, want none", l)
	}
	addText(t, again, "a", "fourth")
	if r := finds(t, again, "fourth"); len(r.Hits) != 1 {
		t.Errorf("Search yields %+v, want what was appended after the restoring", r)
	}
	until(t, "the index has all", func() bool { return again.lag(t) == inspect.Lag{} })
	if r := finds(t, again, "fourth"); len(r.Hits) != 1 {
		t.Errorf("Search yields %+v when it is indexed, want what was appended after the restoring", r)
	}
	var got []skein.Place
	want := []skein.Place{{Session: "a", Seq: 1}, {Session: "a", Seq: 2}, {Session: "a", Seq: 3}, {Session: "b", Seq: 1}, {Session: "b", Seq: 2}, {Session: "a", Seq: 4}}
	for f, err := range again.Feed(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, skein.Place{Session: f.Session, Seq: f.Event.Seq}); len(got) == len(want) {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("Feed yields %v, want %v", got, want)
	}
	if _, err := bookmarkOf(old, "another1"); err == nil {
		t.Errorf("a cursor of another cluster, %s, is taken", old)
	}
}
