package interop_test

import (
	"os"
	"testing"
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
