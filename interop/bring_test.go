package interop_test

import (
	"maps"
	"testing"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

func TestByWayOfAnotherFormatASessionComesBackAsItWas(t *testing.T) {
	p := newPlace(t)
	p.write("t.toy", "a1", "\n", "{\"torn")
	p.raw("b.box/talk.jsonl", line("b1"))
	p.raw("b.box/note.txt", "\xff")
	p.toys()
	p.again()
	for _, c := range []struct {
		own, by interop.Format
		id      string
	}{{toy(), box(), "t"}, {box(), base(), "b"}, {base(), toy(), "a"}} {
		direct, _ := p.export(c.own, c.id)
		home, _ := p.export(c.by, c.id)
		q := elsewhere(t, home)
		back, done := q.export(c.own, c.id)
		if len(done) != 1 || !done[0].Exact {
			t.Errorf("%s by way of %s: Export = %+v, want it exact", c.own.Name, c.by.Name, done)
		}
		was, is := tree(t, direct), tree(t, back)
		if c.own.Name == "base" {
			was, is = rows(t, direct), rows(t, back)
		}
		if !maps.Equal(was, is) || len(was) == 0 {
			t.Errorf("%s by way of %s is %q, want %q", c.own.Name, c.by.Name, is, was)
		}
		if rep := q.again(); rep.Events != 0 || rep.Skipped != 0 {
			t.Errorf("%s by way of %s: Import again = %+v, want nothing new", c.own.Name, c.by.Name, rep)
		}
	}
}

// rows returns the rows of the toy database in home.
func rows(t *testing.T, home string) map[string]string {
	t.Helper()
	db, err := foreign.Open(t.Context(), home+"/toys.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all := map[string]string{}
	for _, table := range []string{"talks", "toys"} {
		if err := db.Rows(t.Context(), table, "", func(r foreign.Row) error { all[table] += string(r.AppendLine(nil)); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
