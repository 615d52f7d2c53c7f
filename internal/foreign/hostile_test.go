package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestOnlyOrdinaryTablesAreRead(t *testing.T) {
	path, db := fixture(t,
		`DROP TABLE lines`,
		`CREATE VIEW lines AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS id, 'a' AS talk, 'x' AS words, 0 AS odd FROM n`,
		`CREATE VIRTUAL TABLE found USING fts5(words)`,
		`CREATE TABLE sums (a, b AS (a * 2) STORED, c AS (a + 1))`,
		`INSERT INTO talks VALUES ('a', 1, 2)`, `INSERT INTO sums (a) VALUES (1)`)
	_ = db
	got, copied := split(t, path)
	if want := `{"table":"talks","rowid":1,"row":{"id":"a","made":1,"hidden":2}}` + "\n"; got["a"] != want {
		t.Errorf("Split gives %q, want %q", got["a"], want)
	}
	for _, name := range []string{"lines", "found", "found_data", "found_content", "sqlite_schema"} {
		if _, ok := copied.Table(name); ok {
			t.Errorf("%s is a table that can be read", name)
		}
		if err := copied.Rows(t.Context(), name, "", func(Row) error { return nil }); err == nil {
			t.Errorf("Rows(%s) gives no error", name)
		}
	}
	if sums, ok := copied.Table("sums"); !ok || strings.Join(sums.Columns, " ") != "a" {
		t.Errorf("the columns of sums are %v, want only what is stored", sums.Columns)
	}
}

func TestARowThatIsTooLongIsNamedAndTheRestRead(t *testing.T) {
	path, db := fixture(t)
	run(t, db, `INSERT INTO lines VALUES (1,'a','x',0), (2,'a',zeroblob(?),0), (3,'a','z',0)`, MaxValue+2<<20)
	rows := rowsOf(t, path, "")
	if len(rows) != 3 || rows[0].Damage != "" || rows[1].Damage == "" || rows[2].Text("words") != "z" {
		t.Errorf("Rows gives %d rows, the second with the damage %q; want 3, the second damaged", len(rows), rows[1].Damage)
	}
	rows = rowsOf(t, path, "words")
	if len(rows) != 3 || rows[0].Text("words") != "x" || rows[1].Text("words") != "z" || rows[2].Damage == "" || *rows[2].Rowid != 2 {
		t.Errorf("in the order of a column Rows gives %v, want rows 1 and 3, and row 2 as a damaged one", rows)
	}
}

func rowsOf(t *testing.T, path, order string) (rows []Row) {
	t.Helper()
	db, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Rows(t.Context(), "lines", order, func(r Row) error { rows = append(rows, r); return nil }); err != nil {
		t.Fatalf("Rows() = %v", err)
	}
	return rows
}

func TestWhatADamagedPageHidesIsSaidAndTheRestRead(t *testing.T) {
	path, db := fixture(t)
	const n = 2000
	for i := range n {
		run(t, db, `INSERT INTO lines VALUES (?,'a',?,0)`, i+1, strings.Repeat("x", 100))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hurt := 0
	for at := 20 * 4096; at < 22*4096; at++ {
		if data[at] != 0xff {
			data[at], hurt = 0xff, hurt+1
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil || hurt == 0 {
		t.Fatal(err, hurt)
	}
	copied, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	got := 0
	last := int64(0)
	if err := copied.Rows(t.Context(), "lines", "", func(r Row) error {
		if *r.Rowid <= last {
			t.Fatalf("row %d comes after row %d", *r.Rowid, last)
		}
		got, last = got+1, *r.Rowid
		return nil
	}); err != nil {
		t.Fatalf("Rows() = %v", err)
	}
	if got == n || got < n*9/10 || last != n || len(copied.Damage()) == 0 {
		t.Errorf("Rows gives %d of %d rows up to %d and the damage %q, want most of them, the last one, and what is wrong", got, n, last, copied.Damage())
	}
}

func TestADamagedFileIsNoDatabase(t *testing.T) {
	dir, copies := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", copies)
	t.Setenv("TMP", copies) // Windows
	for name, data := range map[string]string{
		"empty": "", "text": "no database", "header": "SQLite format 3\x00" + strings.Repeat("\xff", 5000),
	} {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), at)
		if err == nil {
			if len(db.Tables()) > 0 {
				t.Errorf("%s has the tables %v", name, db.Tables())
			}
			db.Close()
		} else if !errors.Is(err, ErrNone) {
			t.Errorf("Open(%s) = %v, want ErrNone", name, err)
		}
	}
	if _, err := Open(t.Context(), dir); err == nil {
		t.Error("Open of a folder gives no error")
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open of nothing = %v, want ErrNotExist", err)
	}
	if left, _ := filepath.Glob(filepath.Join(copies, "*")); len(left) > 0 {
		t.Errorf("copies are left behind: %v", left)
	}
}

func TestADatabaseIsReadWholeWhileItIsWritten(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			path, db := fixture(t, `PRAGMA journal_mode = `+mode, `PRAGMA synchronous = OFF`, `PRAGMA wal_autocheckpoint = 20`)
			ctx, stop := context.WithCancel(t.Context())
			var writer sync.WaitGroup
			writer.Go(func() {
				for i := 0; ctx.Err() == nil; i++ { // both rows, or none
					_, _ = db.Exec(`BEGIN; INSERT INTO lines (talk, words) VALUES ('a', 'one'); INSERT INTO lines (talk, words) VALUES ('b', 'two'); COMMIT`)
					if mode == "DELETE" && i%20 == 0 {
						select {
						case <-time.After(3 * settled):
						case <-ctx.Done():
						}
					}
				}
			})
			read := 0
			end := time.Now().Add(2 * time.Minute)
			for n := 0; n < 8 || read == 0 && time.Now().Before(end); n++ {
				copied, err := Open(t.Context(), path)
				if errors.Is(err, ErrBusy) {
					continue
				}
				if err != nil {
					t.Errorf("Open() = %v", err)
					continue
				}
				count := map[string]int{}
				if err := copied.Rows(t.Context(), "lines", "", func(r Row) error { count[r.Text("talk")]++; return nil }); err != nil {
					t.Error(err)
				}
				if count["a"] != count["b"] || len(copied.Damage()) > 0 {
					t.Errorf("there are %v rows and the damage %v, want as many of both", count, copied.Damage())
				}
				read++
				copied.Close()
			}
			stop()
			writer.Wait()
			if read == 0 {
				t.Error("the database could not be read while it was written")
			}
		})
	}
}

func TestBuildRunsNothingButWhatMakesTables(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.db")
	for _, sql := range []string{
		"ATTACH DATABASE '" + out + "' AS x", "PRAGMA writable_schema = 1", "DELETE FROM sqlite_schema",
		"CREATE TABLE t (x); ATTACH DATABASE '" + out + "' AS y", "CREATE TABLE u (x); VACUUM INTO '" + out + "'", "CREATE VIEW v AS SELECT 1",
	} {
		line := fmt.Sprintf(`{"schema":{"type":"table","name":"t","table":"t","sql":%q}}`+"\n", sql)
		to := filepath.Join(dir, "built.db")
		if err := Build(t.Context(), to, strings.NewReader(line)); err == nil {
			t.Errorf("Build of %s gives no error", sql)
		}
		for _, at := range []string{to, out} {
			if _, err := os.Lstat(at); err == nil {
				t.Errorf("Build of %s made %s", sql, filepath.Base(at))
			}
		}
	}
}

func TestMergeChangesNothingThatItMustNot(t *testing.T) {
	path, db := fixture(t)
	run(t, db, `INSERT INTO lines VALUES (1,'a','one',0), (2,'b','two',0)`)
	row := func(id int, words string) string {
		return fmt.Sprintf(`{"table":"lines","rowid":%d,"row":{"id":%d,"talk":"a","words":%q,"odd":0}}`+"\n", id, id, words)
	}
	fresh := `{"table":"lines","row":{"talk":"a","words":"new","odd":null}}` + "\n"
	for name, c := range map[string]struct {
		was, lines, want string
		fails            bool
		gone             string
	}{
		"a new row":                   {"", fresh, "one two new", false, ""},
		"the same row":                {"", row(1, "one"), "one two", false, ""},
		"another row is there":        {"", fresh + row(1, "other"), "one two", true, ""},
		"a known row may change":      {row(1, "one"), row(1, "uno") + fresh, "uno two new", false, ""},
		"a known row has changed":     {row(1, "old"), row(1, "uno"), "one two", true, ""},
		"a known row is gone":         {row(7, "old"), fresh, "one two", true, ""},
		"a table that is not there":   {"", `{"table":"no","row":{"x":1}}` + "\n", "one two", true, ""},
		"a row of AUTOINCREMENT":      {"", `{"table":"sqlite_sequence","rowid":1,"row":{"name":"lines","seq":99}}` + "\n", "one two", false, ""},
		"a column that is not there":  {"", `{"table":"lines","row":{"no":1}}` + "\n", "one two", true, ""},
		"a known row goes":            {row(1, "one"), fresh, "two new", false, row(1, "one")},
		"a row that nobody knew goes": {"", fresh, "one two", true, row(1, "one")},
		"one that has changed goes":   {row(1, "old"), fresh, "one two", true, row(1, "old")},
		"a damaged row is passed by ": {"", `{"table":"lines","rowid":9,"damage":"x"}` + "\n", "one two", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "copy.db")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, data, 0o600); err != nil {
				t.Fatal(err)
			}
			err = Merge(t.Context(), at, []io.Reader{strings.NewReader(c.was)}, []io.Reader{strings.NewReader(c.gone)}, strings.NewReader(c.lines))
			if (err != nil) != c.fails {
				t.Errorf("Merge() = %v, want an error: %t", err, c.fails)
			}
			var words []string
			for _, r := range rowsOf(t, at, "") {
				words = append(words, r.Text("words"))
			}
			if got := strings.Join(words, " "); got != c.want {
				t.Errorf("after Merge the words are %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzParseRow checks that lines are parsed as they were written.
func FuzzParseRow(f *testing.F) {
	f.Add([]byte(`{"table":"t","rowid":1,"row":{"a":1,"b":2.5,"c":"x","d":null,"e":{"blob":"AA=="},"f":{"text":"/w=="},"g":{"real":"+Inf"}}}`))
	f.Add([]byte(`{"schema":{}}`))
	f.Add([]byte(`{"table":"t\"\u00e9","rowid":-1,"row":{"a\n":-1e3,"b":"x\\\"}},\ud800","c":{"text":"/w=="},"d":"\u2028/\/"}}` + "\n"))
	f.Add([]byte(`{"table":"t","rowid":01,"row":{"a":1.,"b":true,"c":"\x01","a":2}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, ok, err := ParseRow(line)
		want, is, err2 := parseAny(line)
		if ok != is || (err == nil) != (err2 == nil) || err == nil && fmt.Sprintf("%#v", told(r)) != fmt.Sprintf("%#v", told(want)) {
			t.Errorf("ParseRow(%s) = %#v, %t, %v, want %#v, %t, %v", line, r, ok, err, want, is, err2)
		}
		if err != nil || !ok || r.Damage != "" {
			return
		}
		again, ok, err := ParseRow(r.AppendLine(nil))
		if err != nil || !ok || fmt.Sprintf("%q", again.Values) != fmt.Sprintf("%q", r.Values) {
			t.Errorf("ParseRow(%s) gives %q, and what that writes %q, %v", line, r.Values, again.Values, err)
		}
	})
}

// told returns everything in a row.
func told(r Row) []any {
	var id int64
	if r.Rowid != nil {
		id = *r.Rowid
	}
	return []any{r.Table, r.Rowid != nil, id, r.Columns, r.Values, r.Damage}
}

// FuzzOpen checks that no file makes reading panic.
func FuzzOpen(f *testing.F) {
	path, db := fixture(f, `INSERT INTO talks VALUES ('a', 1, 2)`, `INSERT INTO lines VALUES (1,'a','x',0)`)
	if err := db.Close(); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, 100, byte(0))
	f.Add(data, 4200, byte(255))
	f.Fuzz(func(t *testing.T, data []byte, at int, b byte) {
		if at >= 0 && at < len(data) {
			data[at] = b
		}
		to := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		db, err := Open(ctx, to)
		if err != nil {
			return
		}
		defer db.Close()
		ps, err := db.Split(ctx, chats...)
		if err != nil {
			return
		}
		for p, err := range ps.All() {
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, db.Lines(p)); err != nil || n != p.Size {
				t.Errorf("a piece has %d bytes, %v, want %d", n, err, p.Size)
			}
		}
	})
}
