package interop_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// isGone reports whether a session says that its source is gone, and fails if it lost
// anything.
func (p *place) isGone(id, said string) bool {
	p.Helper()
	s, err := p.store.Session(p.Context(), skein.SessionID(id))
	if err != nil {
		p.Fatal(err)
	}
	if n := s.Messages; n != len(strings.Fields(said)) {
		p.Errorf("session %s has %d messages, want %s", id, n, said)
	}
	return s.Gone != 0
}

// remove removes a file or folder, and leaves its folder with the time of that.
func (p *place) remove(name string) {
	p.Helper()
	if err := os.RemoveAll(p.path(name)); err != nil {
		p.Fatal(err)
	}
}

// Agents delete what they have kept for some weeks.
func TestASessionWhoseSourceIsGoneStaysAndSaysSo(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "a1", "a2")
	p.write("y/b.toy", "b1")
	p.write("y/z/c.toy", "c1")
	if rep := p.bring(interop.Options{}); rep.Gone != 0 {
		t.Errorf("Import = %+v, want nothing gone", rep)
	}
	p.remove("x/a.toy")
	p.remove("y/z")
	if rep := p.bring(interop.Options{}); rep.Gone != 2 || rep.Grown != 0 || rep.Events != 0 {
		t.Errorf("Import = %+v, want two sessions gone, and nothing else new", rep)
	}
	if rep := p.bring(interop.Options{}); rep.Gone != 0 {
		t.Errorf("the second Import = %+v, want nothing new", rep)
	}
	if a, b, c := p.isGone("a", "a1 a2 "), p.isGone("b", "b1 "), p.isGone("c", "c1 "); !a || b || !c {
		t.Errorf("gone: a %v, b %v, c %v; want a and c", a, b, c)
	}
	p.write("x/a.toy", "a1", "a2", "a3")
	p.bring(interop.Options{})
	if p.isGone("a", "a1 a2 a3 ") || !p.isGone("c", "c1 ") {
		t.Error("want a there again, with what it says now, and c gone")
	}
	p.wants("a", "created a1 a2 changed a3 changed")
	p.remove("x/a.toy")
	p.bring(interop.Options{})
	if !p.isGone("a", "a1 a2 a3 ") {
		t.Error("a is not marked the second time")
	}
}

// What is not there need not be gone: its disk may not be mounted, its folder not be
// readable, or its file be somewhere else.
func TestWhatCannotBeSeenIsNotGone(t *testing.T) {
	for name, hide := range map[string]func(p *place){
		"the root is not mounted": func(p *place) {
			p.move("home", "away")
			if err := os.Mkdir(p.path("home"), 0o700); err != nil {
				p.Fatal(err)
			}
		},
		"a folder is not mounted": func(p *place) {
			p.move("home/x", "away")
			if err := os.Mkdir(p.path("home/x"), 0o700); err != nil {
				p.Fatal(err)
			}
			before := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
			if err := os.Chtimes(p.path("home/x"), before, before); err != nil {
				p.Fatal(err)
			}
		},
		"a folder cannot be read": func(p *place) {
			p.move("home/x", "away")
			if err := os.Symlink("x", p.path("home/x")); err != nil { // root may read every folder, but no link to itself
				p.Fatal(err)
			}
		},
		"it was moved": func(p *place) { p.move("home/x/a.toy", "home/y/a.toy") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("home/x/a.toy", "a1", "a2")
			p.write("home/y/b.toy", "b1")
			home := elsewhere(t, p.path("home"))
			home.hour = p.hour
			hide(p)
			if rep := home.again(); rep.Gone != 0 || home.isGone("a", "a1 a2 ") {
				t.Errorf("Import = %+v, want nothing gone", rep)
			}
		})
	}
}

// A program that keeps all sessions in one database deletes rows.
func TestASessionThatIsGoneFromItsDatabaseSaysSo(t *testing.T) {
	p := newPlace(t)
	db := p.toys()
	p.bringUnits()
	exec(t, db, `DELETE FROM toys WHERE talk = 'a'`, `DELETE FROM talks WHERE id = 'a'`)
	if rep := p.bringUnits(); rep.Gone != 1 || !p.isGone("a", "one three ") {
		t.Errorf("Import = %+v, want a gone, with what it said", rep)
	}
	if rep := p.bringUnits(); rep.Gone != 0 || !p.isGone("a", "one three ") {
		t.Errorf("the second Import = %+v, want nothing new", rep)
	}
	exec(t, db, `INSERT INTO talks SELECT 'a', 'A'`, `INSERT INTO toys VALUES (1,'a','one')`)
	if rep := p.bringUnits(); rep.Back != 1 || p.isGone("a", "one ") {
		t.Errorf("Import = %+v, want a there again", rep)
	}
	p.write("notes.md", "what is left")
	p.remove("toys.db")
	if rep := p.bringUnits(); rep.Gone != 2 {
		t.Errorf("Import without the database = %+v, want both gone", rep)
	}
}

func TestWatchSeesThatASourceIsGoneAndThereAgain(t *testing.T) {
	p := newPlace(t)
	p.write("x/a.toy", "a1")
	p.write("x/b.toy", "b1")
	w := watchDir(t, p)
	p.move("x/a.toy", "../"+filepath.Base(p.dir)+".away")
	for !w.isGone("a", "a1 ") {
		w.next()
	}
	p.move("x/b.toy", "y/b.toy")
	p.move("../"+filepath.Base(p.dir)+".away", "x/a.toy")
	for w.isGone("a", "a1 ") {
		w.next()
	}
	if w.isGone("b", "b1 ") {
		t.Error("what was moved is gone")
	}
}
