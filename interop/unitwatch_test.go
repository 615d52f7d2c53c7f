package interop_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein/interop"
)

func TestWatchTakesRowsWhileAnotherProgramHoldsALock(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			p := newPlace(t)
			db := p.toys(`PRAGMA journal_mode = ` + mode)
			w := watchAs(t, p, base())
			w.wants("a", "created T:A one three")
			exec(t, db, `INSERT INTO toys VALUES (4,'a','four')`, `BEGIN EXCLUSIVE`, `INSERT INTO toys VALUES (5,'a','not yet')`)
			w.until("a", "created T:A one three four")
			exec(t, db, `UPDATE toys SET word = 'five' WHERE id = 5`, `COMMIT`)
			w.until("a", "created T:A one three four five")
			exec(t, db, `BEGIN IMMEDIATE`, `DELETE FROM toys WHERE id = 1`, `COMMIT`)
			w.until("a", "created T:A one three four five -3")
		})
	}
}

func TestADatabaseIsWatchedByItsOwnPath(t *testing.T) {
	p := newPlace(t)
	db := p.toys(`PRAGMA journal_mode = WAL`)
	p.dir = p.path("toys.db")
	w := watchAs(t, p, base())
	w.wants("a", "created T:A one three")
	exec(t, db, `INSERT INTO toys VALUES (4,'a','four')`)
	w.until("a", "created T:A one three four")
}

func TestWatchSeesWhatChangesInAFolder(t *testing.T) {
	p := newPlace(t)
	p.raw("a.box/talk.jsonl", line("a1"))
	w := watchAs(t, p, box())
	w.append("a.box/talk.jsonl", line("a2"))
	w.until("a", "created a1 a2")
	w.append("a.box/note.txt", "Title")
	w.until("a", "created a1 a2 T:Title")
	if err := os.Remove(w.path("a.box/note.txt")); err != nil {
		t.Fatal(err)
	}
	w.until("a", "created a1 a2 T:Title -4")
	w.append("x/b.box/talk.jsonl", line("b1"))
	w.until("b", "created b1")
}

// Only the poll sees what a link from outside writes: it has not run yet.
func TestAFolderThatStaysWithoutItsHeadIsReadWithoutAPoll(t *testing.T) {
	p, aside := newPlace(t), t.TempDir()
	p.raw("b.box/talk.jsonl", line("b1"))
	link := filepath.Join(aside, "link")
	if err := os.Link(p.path("b.box/talk.jsonl"), link); err != nil {
		t.Fatal(err)
	}
	w := watchAs(t, p, headed("note.txt"))
	w.until("b", "created b1")
	long := time.Now().Add(-2 * interop.TornFor)
	late := time.Now().Add(time.Second - interop.TornFor)
	talk := filepath.Join(aside, "talk.jsonl")
	if err := errors.Join(
		os.WriteFile(link, []byte(line("b1")+line("b2")), 0o600), os.Chtimes(link, long, long),
		os.WriteFile(talk, []byte(line("a1")), 0o600), os.Chtimes(talk, late, late),
		os.Mkdir(p.path("a.box"), 0o700), os.Rename(talk, p.path("a.box/talk.jsonl")),
	); err != nil {
		t.Fatal(err)
	}
	w.until("a", "created a1")
	w.wants("b", "created b1")
}
