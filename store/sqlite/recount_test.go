package sqlite

import (
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// An examination reports what is still to be recomputed, and can do it at once,
// however long it takes.
func TestExamineWorksRowsOutAnew(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("one")), skein.Say(3, skein.UserSays("two"))); err != nil {
		t.Fatal(err)
	}
	s.maintenance.close() // the test does the recount
	c := testConn(t, s.path)
	if _, _, err := c.Exec(`DELETE FROM messages WHERE content = 'one'`); err != nil {
		t.Fatal(err)
	}
	for _, repair := range []bool{false, true} {
		var told []inspect.Finding
		for f, err := range s.Examine(t.Context(), inspect.Examination{Repair: repair}) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.Text, "recounted") {
				told = append(told, f)
			}
		}
		if len(told) != 1 || told[0].Mended != repair {
			t.Errorf("Examine with Repair %v tells %+v; want it once", repair, told)
		}
	}
	if got, err := s.Session(t.Context(), "a"); err != nil || got.First != "two" || got.Turns != 1 {
		t.Errorf("Session = %q, %d turns, %v; want the first words of what is left, 1 turn", got.First, got.Turns, err)
	}
}

// A recount continues where it was interrupted, and finishes even if an event
// is damaged.
func TestRecountGoesOnWhereItStopped(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for i := range 2 * recountRows {
		evs = append(evs, skein.Say(2, skein.UserSays(fmt.Sprint("prompt ", i))))
	}
	if _, err := skein.Add(t.Context(), s, "a", evs...); err != nil {
		t.Fatal(err)
	}
	s.maintenance.close() // the test does the recount
	c := testConn(t, s.path)
	if err := c.Script(`DELETE FROM messages WHERE content = 'prompt 0'; UPDATE events SET payload = CAST('{}' AS BLOB), text = 'x' WHERE seq = 300`); err != nil {
		t.Fatal(err)
	}
	for step, want := range []string{"recount 1=1 recounted 1 1=200 ", "recount 1=1 recounted 1 1=400 ", ""} {
		if err := s.change(t.Context(), func(t *txn.Tx) error {
			_, err := (&call{Tx: t, s: s.view}).recount(1)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := c.Query(`SELECT name, times FROM maintenance WHERE name LIKE 'recount%' ORDER BY name`, nil, func(row []driver.Value) error {
			got += fmt.Sprint(row[0], "=", row[1], " ")
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("after step %d there are the tasks %q, want %q", step, got, want)
		}
	}
	got, err := s.Session(t.Context(), "a")
	if want := 2*recountRows - 1; err != nil || got.Messages != want || got.Turns != want || got.First != "prompt 1" {
		t.Errorf("Session = %d messages, %d turns, from %q, %v; want %d and %d from prompt 1", got.Messages, got.Turns, got.First, err, want, want)
	}
	if es, err := s.Newest(t.Context(), "a", 1, 0); err != nil || len(es) != 1 || es[0].Turn != 2*recountRows-1 {
		t.Errorf("Newest = %+v, %v; want a message of turn %d", es, err, 2*recountRows-1)
	}
}

// A session whose row cannot be written does not keep others from being recounted.
func TestRecountGoesAroundWhatCannotBeWritten(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, id := range []skein.SessionID{"a", "b"} {
		if _, err := skein.Add(t.Context(), s, id, skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("one")), skein.Say(3, skein.UserSays("two"))); err != nil {
			t.Fatal(err)
		}
	}
	s.maintenance.close() // the test does the recount
	c := testConn(t, s.path)
	if err := c.Script(`DELETE FROM messages WHERE content = 'one'; CREATE TRIGGER fails BEFORE UPDATE ON sessions WHEN old.id = 'a' BEGIN SELECT RAISE(ABORT, 'cannot be written'); END`); err != nil {
		t.Fatal(err)
	}
	if err := (cleaner{s.core}).recountAll(t.Context()); err == nil {
		t.Error("recountAll = nil, want that a cannot be written")
	}
	if got, err := s.Session(t.Context(), "b"); err != nil || got.First != "two" || got.Messages != 1 {
		t.Errorf("Session(b) = %d messages from %q, %v; want 1 from two", got.Messages, got.First, err)
	}
}

// A quick examination finds damage in the newest events and in the rows of sessions,
// and does not read the older events.
func TestAQuickExaminationReadsTheNewestEvents(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "pay 100 euros"})}
	for i := range 2 * someEvents {
		evs = append(evs, skein.Say(2, skein.UserSays(fmt.Sprint("prompt ", i))))
	}
	if _, err := skein.Add(t.Context(), s, "a", evs...); err != nil {
		t.Fatal(err)
	}
	c := testConn(t, s.path)
	damaged := func(x inspect.Examination) (areas []string) {
		for f, err := range s.Examine(t.Context(), x) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Level == inspect.Damaged {
				areas = append(areas, f.Area)
			}
		}
		return areas
	}
	for i, change := range []struct {
		sql   string
		quick int // damages that it finds then
		whole int
	}{
		{`SELECT 1`, 0, 0},
		{`UPDATE events SET payload = x'00' WHERE seq = 2`, 0, 1},
		{fmt.Sprintf(`UPDATE events SET payload = x'00' WHERE seq = %d`, len(evs)-1), 1, 2},
		{`UPDATE sessions SET title = 'pay 900 euros'`, 2, 3},
	} {
		if err := c.Script(change.sql); err != nil {
			t.Fatal(err)
		}
		if got := damaged(inspect.Examination{Quick: true}); len(got) != change.quick {
			t.Errorf("after change %d a quick examination finds damage in %v, want %d", i, got, change.quick)
		}
		if got := damaged(inspect.Examination{}); len(got) != change.whole {
			t.Errorf("after change %d an examination finds damage in %v, want %d", i, got, change.whole)
		}
	}
}
