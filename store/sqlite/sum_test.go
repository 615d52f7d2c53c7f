package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
)

// Events from before there were checksums get theirs, but not those that are
// damaged already, as far as that can be told.
func TestOlderEventsGetChecksumsUnlessTheyAreDamaged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	say := func(id skein.ClientID, text string) skein.Event {
		e := skein.Say(2, skein.UserSays(text))
		e.ClientID = id
		return e
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), say("", "plain"), say("x", "one"), say("y", "two")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	c := testConn(t, name)
	if err := c.script(`UPDATE events SET sum = NULL; UPDATE events SET payload = CAST(replace(CAST(payload AS TEXT), 'two', 'too') AS BLOB); INSERT INTO chores (name, times) VALUES ('sums', 0)`); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), name, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.sumAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	var summed, chores int64
	if _, err := c.one(`SELECT count(sum), (SELECT count(*) FROM chores WHERE name = 'sums') FROM events`, nil, &summed, &chores); err != nil || summed != 3 || chores != 0 {
		t.Errorf("%d events have checksums and %d chores are left (%v), want 3 and 0", summed, chores, err)
	}
	var last error
	for _, err := range s.Events(t.Context(), "a", 0) {
		last = err
	}
	if bad := (*skein.DamagedError)(nil); !errors.As(last, &bad) || bad.Seq != 4 {
		t.Errorf("Events yields %v, want that event 4 is damaged", last)
	}
}
