package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// old makes a store with one session, and returns its file.
func old(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func testConn(t *testing.T, name string) *conn {
	t.Helper()
	d, err := sqlDriver()
	if err != nil {
		t.Fatal(err)
	}
	c, err := openConn(d, dsn(name, "mode=rw"), writerPragmas...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close() })
	return c
}

func TestMigrationCopiesTheFileFirst(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	steps, err := schemaSteps()
	if err != nil {
		t.Fatal(err)
	}
	var notice string
	o := Options{Notice: func(s string) { notice = s }}
	if err := migrate(t.Context(), c, name, o, append(steps, "CREATE TABLE later (x) STRICT")); err == nil {
		t.Error("a migration with an error = nil")
	}
	copied := name + ".v1.bak"
	if v, err := fileVersion(c); err != nil || v != 1 {
		t.Errorf("after a migration that failed, the file has version %d (%v), want 1", v, err)
	}
	if err := migrate(t.Context(), c, name, o, append(steps, "CREATE TABLE later (x TEXT) STRICT")); err != nil {
		t.Fatal(err)
	}
	if v, err := fileVersion(c); err != nil || v != 2 {
		t.Errorf("after the migration the file has version %d (%v), want 2", v, err)
	}
	if !strings.Contains(notice, copied) {
		t.Errorf("the notice is %q, want one that names %s", notice, copied)
	}
	if st, err := os.Stat(copied); err != nil || st.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
		t.Errorf("the copy: %v, %v", st, err)
	}
	var n int64
	if _, err := testConn(t, copied).one("SELECT count(*) FROM sessions", nil, &n); err != nil || n != 1 {
		t.Errorf("the copy has %d sessions (%v), want 1", n, err)
	}
}

func TestPragmas(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	for pragma, want := range map[string]int64{"auto_vacuum": 2, "page_size": 4096, "synchronous": 2, "application_id": applicationID, "user_version": schemaVersion} {
		var got int64
		if _, err := c.one("PRAGMA "+pragma, nil, &got); err != nil || got != want {
			t.Errorf("PRAGMA %s = %d (%v), want %d", pragma, got, err, want)
		}
	}
	var mode, version string
	if _, err := c.one("PRAGMA journal_mode", nil, &mode); err != nil || mode != "wal" {
		t.Errorf("PRAGMA journal_mode = %s (%v), want wal", mode, err)
	}
	if _, err := c.one("SELECT sqlite_version()", nil, &version); err != nil || older(version, minVersion) {
		t.Errorf("SQLite is %s (%v), want %s or later", version, err, minVersion)
	}
}

func TestOlder(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"3.51.2", "3.51.3", true}, {"3.51.3", "3.51.3", false}, {"3.9.0", "3.51.3", true}, {"3.53.4", "3.51.3", false}, {"4.0.0", "3.51.3", false}} {
		if got := older(c.a, c.b); got != c.want {
			t.Errorf("older(%s, %s) = %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
