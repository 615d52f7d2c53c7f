package foreign

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestMentionsLooksAtTheSchemaAndTheWal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	db, err := sql.Open(driverName, path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	do := func(q string) {
		t.Helper()
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(name string, want bool) {
		t.Helper()
		if got, err := Mentions(path, name); got != want || err != nil {
			t.Errorf("Mentions(%q) = %v, %v, want %v", name, got, err, want)
		}
	}
	do(`CREATE TABLE notes (text)`)
	do(`INSERT INTO notes WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) SELECT 'events ' || i FROM n`)
	wants("notes", true)
	wants("events", false)
	for i := range 200 { // a schema of many pages
		do(fmt.Sprintf(`CREATE TABLE table_%d (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)`, i))
	}
	wants("table_7 ", true)
	wants("table_199", true)
	do(`PRAGMA journal_mode = WAL`)
	do(`PRAGMA wal_autocheckpoint = 0`)
	do(`CREATE TABLE late (x)`)
	wants("late", true)
	for _, text := range []string{"", "SQLite format 3\x00", "no database"} {
		other := filepath.Join(dir, "b.db")
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Mentions(other, "x"); got || err != nil {
			t.Errorf("Mentions in %q = %v, %v, want false", text, got, err)
		}
	}
	if _, err := Mentions(filepath.Join(dir, "none.db"), "x"); !os.IsNotExist(err) {
		t.Errorf("Mentions of no file = %v, want that there is none", err)
	}
}
