package foreign

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixture creates a database with the schema of a small chat program.
func fixture(t testing.TB, statements ...string) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "chats.db")
	db, err := sql.Open(driverName, dsn(filepath.ToSlash(path), "rwc"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, s := range append([]string{
		`CREATE TABLE talks (id TEXT PRIMARY KEY, made DATETIME, hidden BOOLEAN)`,
		`CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, talk TEXT NOT NULL, words TEXT, odd)`,
		`CREATE INDEX by_talk ON lines(talk)`,
	}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path, db
}

func run(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

var chats = []Part{{Table: "talks", Key: "id"}, {Table: "lines", Key: "talk"}, {Table: "sqlite_sequence"}}

// split returns the lines of each piece.
func split(t testing.TB, path string) (map[string]string, *DB) {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatalf("Open(%s) = %v", path, err)
	}
	t.Cleanup(func() { db.Close() })
	ps, err := db.Split(t.Context(), chats...)
	if err != nil {
		t.Fatalf("Split() = %v", err)
	}
	out := map[string]string{}
	for p, err := range ps.All() {
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(db.Lines(p))
		if err != nil {
			t.Fatal(err)
		}
		out[p.Key] = string(b)
	}
	return out, db
}

func TestRowsComeByKeyWithTheirTypes(t *testing.T) {
	path, db := fixture(t)
	run(t, db, `INSERT INTO talks VALUES ('a', '2026-01-02 03:04:05', 1), ('b', NULL, 0)`)
	run(t, db, `INSERT INTO lines VALUES (1,'a','hi "you"
',2), (2,'b','<&>',2.0), (5,'a',CAST(x'ff41' AS TEXT),x'00ff'), (6,'b','',1e999), (7,'a','x',CAST('' AS BLOB)), (8,'a','y',9007199254740993)`)
	got, _ := split(t, path)
	for key, want := range map[string]string{
		"a": `{"table":"talks","rowid":1,"row":{"id":"a","made":"2026-01-02 03:04:05","hidden":1}}
{"table":"lines","rowid":1,"row":{"id":1,"talk":"a","words":"hi \"you\"\n","odd":2}}
{"table":"lines","rowid":5,"row":{"id":5,"talk":"a","words":{"text":"/0E="},"odd":{"blob":"AP8="}}}
{"table":"lines","rowid":7,"row":{"id":7,"talk":"a","words":"x","odd":{"blob":""}}}
{"table":"lines","rowid":8,"row":{"id":8,"talk":"a","words":"y","odd":9007199254740993}}
`,
		"b": `{"table":"talks","rowid":2,"row":{"id":"b","made":null,"hidden":0}}
{"table":"lines","rowid":2,"row":{"id":2,"talk":"b","words":"<&>","odd":2.0}}
{"table":"lines","rowid":6,"row":{"id":6,"talk":"b","words":"","odd":{"real":"+Inf"}}}
`,
		"": `{"table":"sqlite_sequence","rowid":1,"row":{"name":"lines","seq":8}}
`,
	} {
		if got[key] != want {
			t.Errorf("Split: the lines of %q are\n%swant\n%s", key, got[key], want)
		}
	}
}

func TestALineIsReadAgainAsTheRowItWas(t *testing.T) {
	id := int64(-7)
	for _, v := range []Value{nil, int64(0), int64(math.MinInt64), 0.0, 2.0, 1.5e300, math.Inf(-1), "", "a\x00\x1f\"\\\u2028é", "\xff\xfe", []byte{}, []byte{0, 255}} {
		was := Row{Table: `t"`, Rowid: &id, Columns: []string{"c d"}, Values: []Value{v}}
		line := was.AppendLine(nil)
		got, ok, err := ParseRow(line)
		if err != nil || !ok || got.Table != was.Table || *got.Rowid != id || fmt.Sprintf("%T %q", got.Values[0], got.Values[0]) != fmt.Sprintf("%T %q", v, v) {
			t.Errorf("ParseRow(%s) = %#v, %v, %v, want the value %#v", line, got, ok, err, v)
		}
	}
}

// rebuilt builds a database of everything in the one at path.
func rebuilt(t *testing.T, path string, extra ...string) string {
	t.Helper()
	lines, db := split(t, path)
	frame := bytes.NewReader(db.Frame(append([]string{"talks", "lines"}, extra...)...))
	rs := []io.Reader{frame}
	for _, l := range lines {
		rs = append(rs, strings.NewReader(l))
	}
	to := filepath.Join(t.TempDir(), "again.db")
	if err := Build(t.Context(), to, rs...); err != nil {
		t.Fatalf("Build(%s) = %v", to, err)
	}
	return to
}

func TestADatabaseIsBuiltAsItWas(t *testing.T) {
	path, db := fixture(t,
		`CREATE VIRTUAL TABLE words_fts USING fts5(words, content='lines', content_rowid='id')`,
		`CREATE TRIGGER lines_ai AFTER INSERT ON lines BEGIN INSERT INTO words_fts(rowid, words) VALUES (new.id, new.words); END`,
		`PRAGMA user_version = 7`, `PRAGMA journal_mode = WAL`)
	run(t, db, `INSERT INTO talks VALUES ('b', 1, 2), ('a', x'00', 1.5)`)
	run(t, db, `INSERT INTO lines VALUES (3,'a','apple pie',2), (9,'b',CAST(x'ff' AS TEXT),-0.5), (12,'a','gone',0)`)
	run(t, db, `DELETE FROM lines WHERE id = 12`)
	to := rebuilt(t, path, "words_fts")
	lines, again := split(t, to)
	was, first := split(t, path)
	for key := range was {
		if lines[key] != was[key] {
			t.Errorf("built again, the lines of %q are\n%swant\n%s", key, lines[key], was[key])
		}
	}
	if got, want := string(again.Frame("talks", "lines")), string(first.Frame("talks", "lines")); got != want {
		t.Errorf("built again, the frame is\n%swant\n%s", got, want)
	}
	if got, want := shell(t, to), shell(t, path); got != want {
		t.Errorf("built again, .dump gives\n%s\nwant\n%s", got, want)
	}
	open, err := sql.Open(driverName, dsn(filepath.ToSlash(to), "rw"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	var n int
	if err := open.QueryRow(`SELECT count(*) FROM words_fts WHERE words_fts MATCH 'pie'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("the full-text table finds %d, %v, want 1", n, err)
	}
}

func TestWhatIsInTheWALIsSeenWhileAnotherProgramHoldsALock(t *testing.T) {
	path, db := fixture(t, `PRAGMA journal_mode = WAL`, `PRAGMA wal_autocheckpoint = 0`)
	run(t, db, `INSERT INTO talks VALUES ('a', 1, 2)`)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(`INSERT INTO talks VALUES ('b', 1, 2)`); err != nil {
		t.Fatal(err)
	}
	got, _ := split(t, path)
	if got["a"] == "" || got["b"] != "" {
		t.Errorf("Split gives %v, want what was committed", got)
	}
}

func TestAnUnfinishedTransactionIsRolledBackInTheCopy(t *testing.T) {
	path, db := fixture(t, `PRAGMA cache_size = 1`, `PRAGMA cache_spill = 1`)
	run(t, db, `INSERT INTO lines VALUES (1,'a','old',0)`)
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.Exec(`UPDATE lines SET words = 'new'`); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 { // more than the cache holds: some of it is in the file
		if _, err := tx.Exec(`INSERT INTO lines VALUES (?,'a',?,0)`, i+2, strings.Repeat("x", 500)); err != nil {
			t.Fatal(err)
		}
	}
	got, _ := split(t, path)
	if want := `{"table":"lines","rowid":1,"row":{"id":1,"talk":"a","words":"old","odd":0}}` + "\n"; got["a"] != want {
		t.Errorf("Split gives %.300q, want %q", got["a"], want)
	}
}

func TestTheSourceIsLeftAlone(t *testing.T) {
	path, db := fixture(t, `PRAGMA journal_mode = WAL`, `PRAGMA wal_autocheckpoint = 0`)
	run(t, db, `INSERT INTO talks VALUES ('a', 1, 2)`)
	look := func() (out string) {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			out += string(b)
		}
		return out
	}
	before := look()
	_, copied := split(t, path)
	if look() != before {
		t.Error("Split changed the database")
	}
	if err := copied.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
	if _, err := os.Lstat(copied.dir); !os.IsNotExist(err) {
		t.Errorf("after Close the copy is still there: %v", err)
	}
}

// shell returns the tables as statements, as the shell's .dump does.
func shell(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open(driverName, dsn(filepath.ToSlash(path), "ro"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	for _, q := range []string{
		`SELECT sql FROM sqlite_schema WHERE type = 'table' AND tbl_name IN ('talks', 'lines') ORDER BY rowid`,
		`SELECT quote(rowid) || quote(id) || quote(made) || quote(hidden) FROM talks ORDER BY rowid`,
		`SELECT quote(rowid) || quote(id) || quote(talk) || quote(CAST(words AS BLOB)) || quote(odd) FROM lines ORDER BY rowid`,
		`SELECT quote(rowid) || quote(name) || quote(seq) FROM sqlite_sequence ORDER BY rowid`,
		`SELECT sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, rowid`,
	} {
		b.WriteString(column(t, db, q))
	}
	return b.String()
}

// column returns the only column of a query's result, a line for each row.
func column(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		b.WriteString(s + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
