package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/storetest"
)

// snapshot returns the names and bytes of the files in a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(b)
	}
	return files
}

// makeNewer is storetest.Options.Newer.
func makeNewer(t *testing.T, name string) {
	t.Helper()
	behind(t, name, `PRAGMA user_version = 4711`)
}

// unchanged is storetest.Options.Unchanged.
func unchanged(t *testing.T, name string) func() error {
	t.Helper()
	was := snapshot(t, filepath.Dir(name))
	return func() error {
		is := snapshot(t, filepath.Dir(name))
		for n, b := range is {
			if was[n] != b {
				return fmt.Errorf("file %s was changed, or is new", n)
			}
		}
		if len(is) != len(was) {
			return fmt.Errorf("%d files are left of %d", len(is), len(was))
		}
		return nil
	}
}

func TestNewerFileIsRefusedUntouched(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("x"))
	shut(t, s)
	makeNewer(t, name)
	same := unchanged(t, name)
	_, err := dial(name)
	if !errors.Is(err, skein.ErrNewer) || !strings.Contains(err.Error(), "has schema 4711, this program knows 4") {
		t.Errorf("Open of a newer file = %v, want %v with both versions", err, skein.ErrNewer)
	}
	if err := same(); err != nil {
		t.Error(err)
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, bytes.Repeat([]byte("this is no database\n"), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(text); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("Open of a text file = %v, want %v", err, skein.ErrCorrupt)
	}
	other := filepath.Join(dir, "other.db")
	shell(t, other, "CREATE TABLE x (y); PRAGMA user_version = 1;")
	was := snapshot(t, dir)
	if _, err := dial(other); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Open of another program's database = %v, want %v", err, skein.ErrInvalid)
	}
	if is := snapshot(t, dir); is["other.db"] != was["other.db"] {
		t.Error("Open changed another program's database")
	}
	if _, err := dial(dir); err == nil {
		t.Error("Open of a folder = nil")
	}
}

// One damaged page: reading what is on it returns an error that says so;
// everything else can be read.
func TestDamagedPage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	const sessions = 20
	for i := range sessions {
		id := skein.SessionID(fmt.Sprint("s", i))
		add(t, s, id, created())
		for k := range 20 {
			add(t, s, id, user(fmt.Sprintf("marker-%d-%d %s", i, k, strings.Repeat("text ", 300))))
		}
	}
	shut(t, s)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("marker-7-11 ")) / 4096 * 4096
	copy(b[at:], bytes.Repeat([]byte{0xee}, 4096))
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}

	s = open(t, name)
	damaged := 0
	for i := range sessions {
		id := skein.SessionID(fmt.Sprint("s", i))
		n := 0
		var last error
		for _, err := range s.Events(t.Context(), id, 0) {
			if last = err; err == nil {
				n++
			}
		}
		switch {
		case errors.Is(last, skein.ErrCorrupt):
			damaged++
			if strings.Contains(last.Error(), "rollback") {
				t.Errorf("Events(%s) yields %v, which speaks of what came of the damage", id, last)
			}
		case last != nil || n != 21:
			t.Errorf("Events(%s) yields %d events and %v, want 21", id, n, last)
		}
	}
	if damaged == 0 || damaged > 2 {
		t.Errorf("%d of %d sessions are damaged, want one or two", damaged, sessions)
	}
	add(t, s, "s0", user("goes on"))
}

func TestPermissions(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("SKIPPED: Windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "data")
	name := filepath.Join(dir, "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	if _, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{}); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has the mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, name)
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("after Open, %s has the mode %o (%v), want 600", name, st.Mode().Perm(), err)
	}
}

// behind changes a file without the knowledge of the store that has it open.
func behind(t *testing.T, name, query string, args ...any) {
	t.Helper()
	db, err := sql.Open(sqlite.DriverName, "file:"+(&url.URL{Path: name}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA busy_timeout = 60000; "+query, args...); err != nil {
		t.Fatal(err)
	}
}

// hurtRecord is storetest.Options.HurtRecord.
func hurtRecord(t *testing.T, name, path string, n int) {
	t.Helper()
	db, err := sql.Open(sqlite.DriverName, "file:"+(&url.URL{Path: name}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var at int64
	var raw []byte
	if err := db.QueryRow(`SELECT r.n, r.raw FROM records r JOIN files f ON r.n BETWEEN f.n << 32 AND (f.n << 32) + ?2 WHERE f.path = ?1
		ORDER BY r.n DESC LIMIT 1`, path, n).Scan(&at, &raw); err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 0x10
	behind(t, name, `UPDATE records SET raw = ? WHERE n = ?`, raw, at)
}

// hurtBlobs is storetest.Options.HurtBlobs.
func hurtBlobs() map[string]func(t *testing.T, name string) {
	all := map[string]func(t *testing.T, name string){}
	for how, query := range map[string]string{
		"data":  `UPDATE blobs SET data = zeroblob(length(data))`,
		"size":  `UPDATE blobs SET size = -1`,
		"large": `UPDATE blobs SET size = 1 << 60`,
		"form":  `UPDATE blobs SET form = 1 - form`,
		"blobs": `DELETE FROM blobs`,
		"both":  `DELETE FROM blob_refs`, // a trigger deletes the blobs
		storetest.LostRefs: `CREATE TABLE kept AS SELECT * FROM blobs; DELETE FROM blob_refs;
			INSERT INTO blobs SELECT * FROM kept; DROP TABLE kept`,
	} {
		all[how] = func(t *testing.T, name string) { t.Helper(); behind(t, name, query) }
	}
	return all
}

// hurt is storetest.Options.Hurt.
func hurt(t *testing.T, name, old, new string) {
	t.Helper()
	behind(t, name, `UPDATE events SET text = replace(text, ?1, ?2), payload = CAST(replace(CAST(payload AS TEXT), ?1, ?2) AS BLOB)
		WHERE instr(text, ?1) > 0 OR instr(CAST(payload AS TEXT), ?1) > 0`, old, new)
}

// hurtRow is storetest.Options.HurtRow.
func hurtRow(t *testing.T, name, old, new string) {
	t.Helper()
	behind(t, name, `UPDATE sessions SET title = replace(title, ?1, ?2), first_words = replace(first_words, ?1, ?2),
		agent = replace(agent, ?1, ?2), state = replace(state, ?1, ?2)`, old, new)
}
