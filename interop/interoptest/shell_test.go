package interoptest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/agsh"
	"github.com/skein-dev/skein/interop/formats/ethos"
	"github.com/skein-dev/skein/interop/formats/skillet"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// TestDatabasesHaveTheSameDump compares, using the sqlite3 shell's own .dump, the
// session tables of databases with those of databases to which all their sessions were
// written again: the cases of each format, and the samples, if there are any.
func TestDatabasesHaveTheSameDump(t *testing.T) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no sqlite3 shell on the PATH: apt-get install sqlite3")
	}
	for _, c := range []struct {
		format interop.Format
		file   string // where an export puts the database, below its home
		tables []string
	}{
		{agsh.Format(), "", []string{"sessions", "messages", "tool_outputs"}},
		{ethos.Format(), "", []string{"sessions", "messages", "compressions", "session_context_events"}},
		{skillet.Format(), "state/.agent_sessions.sqlite", []string{"session_items"}},
	} {
		files, size := 0, int64(0)
		for _, path := range databases(t, c.format) {
			t.Run(c.format.Name+" "+filepath.Base(filepath.Dir(path)), func(t *testing.T) {
				file := c.file
				if file == "" {
					file = filepath.Base(path)
				}
				home := rewritten(t, c.format, path)
				want, got := shellDump(t, shell, path, c.tables), shellDump(t, shell, filepath.Join(home, filepath.FromSlash(file)), c.tables)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s written again (-was +is):\n%s", path, diff)
				}
				files, size = files+1, size+int64(len(want))
			})
		}
		t.Logf("%s: %d databases, %d bytes of .dump", c.format.Name, files, size)
	}
}

// databases returns copies of the databases of a format's cases and samples.
func databases(t *testing.T, f interop.Format) (all []string) {
	t.Helper()
	roots := []string{filepath.Join("..", "formats", f.Name, "testdata")}
	if dir := os.Getenv("SKEIN_SAMPLES"); dir != "" {
		roots = append(roots, filepath.Join(dir, f.Name))
	}
	for _, root := range roots {
		to, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(to, os.DirFS(root)); err != nil {
			t.Fatal(err)
		}
		err = filepath.Walk(to, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() && f.Unit(filepath.ToSlash(path)) == filepath.ToSlash(path) {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// rewritten returns a home to which all sessions of a database were written again.
func rewritten(t *testing.T, f interop.Format, path string) string {
	t.Helper()
	s := memory.New()
	defer s.Close()
	if _, err := importer.Import(t.Context(), s, []interop.Format{f}, []string{path}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, id := range ids(t, s, false) {
		if done, err := writeback.Export(t.Context(), s, f, id, home, writeback.Exports{}); err != nil || !done[0].Exact {
			t.Errorf("Export(%s) = %+v, %v, want it exact", id, done, err)
		}
	}
	return home
}

// shellDump returns the sqlite3 shell's dump of some tables, with their indexes and
// triggers, and of sqlite_sequence.
func shellDump(t *testing.T, shell, path string, tables []string) string {
	t.Helper()
	var out []byte
	for _, table := range append(slices.Clone(tables), "sqlite_sequence") {
		cmd := exec.CommandContext(t.Context(), shell, path, ".dump --newlines "+table)
		b, err := cmd.Output()
		if err != nil {
			t.Fatalf("sqlite3 %s: %v", path, err)
		}
		out = append(out, b...)
	}
	return string(bytes.TrimSpace(out))
}
