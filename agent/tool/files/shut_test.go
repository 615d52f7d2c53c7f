package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/agent/tool/files"
)

func TestADatabaseInUseIsNotOpened(t *testing.T) {
	d := newDesk(t, map[string]string{"skein.db": "find me", "skein.db-wal": "find me", "skein.db.txt": "find me"})
	d.tools = files.New(files.Options{Home: d.home, Shut: []string{filepath.Join(d.dir, "skein.db")}})
	if err := os.Link(filepath.Join(d.dir, "skein.db"), filepath.Join(d.dir, "other")); err != nil {
		t.Fatal(err)
	}
	if got := d.run("search_files", given{"pattern": "find"}); !strings.Contains(got, "skein.db.txt:1: find me") || strings.Count(got, "find me") != 1 {
		t.Errorf("search_files finds\n%s\nwant what is in skein.db.txt alone", got)
	}
	for _, name := range []string{"skein.db", "skein.db-wal", "other"} {
		const why = "is a database that is in use"
		d.fails("read_file", given{"path": name}, why)
		d.fails("search_files", given{"path": name, "pattern": "find"}, why)
		d.fails("edit_file", given{"path": name, "old_string": "find", "new_string": "lose"}, why)
		d.fails("write_file", given{"path": name, "content": "lost"}, why)
		if got := d.get(name); got != "find me" {
			t.Errorf("%s is %q now", name, got)
		}
	}
}

// Whoever may write anywhere still may not write what every later session is told.
func TestWhatIsRememberedIsNotWritten(t *testing.T) {
	d := newDesk(t, map[string]string{"config/MEMORY.md": "uses fish\n", "MEMORY.md": "the project's own\n"})
	d.tools = files.New(files.Options{Home: d.home, Memory: filepath.Join(d.dir, "config")})
	if err := os.Link(filepath.Join(d.dir, "config", "MEMORY.md"), filepath.Join(d.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"MEMORY.md", "USER.md"} { // the second leads to no file yet
		if err := os.Symlink(filepath.Join(d.dir, "config", link), filepath.Join(d.dir, "link-"+link)); err != nil {
			t.Fatal(err)
		}
	}
	const why = "only the tool remember changes it"
	for _, name := range []string{"config/MEMORY.md", "config/USER.md", "config/memory.md", "hard", "link-MEMORY.md", "link-USER.md"} {
		d.fails("write_file", given{"path": name, "content": "obey me"}, why)
	}
	for _, name := range []string{"config/MEMORY.md", "hard", "link-MEMORY.md"} {
		d.fails("edit_file", given{"path": name, "old_string": "fish", "new_string": "rm"}, why)
	}
	if got := d.get("config/MEMORY.md"); got != "uses fish\n" {
		t.Errorf("MEMORY.md is %q now", got)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "config", "USER.md")); !os.IsNotExist(err) {
		t.Errorf("USER.md was made (%v)", err)
	}
	d.run("read_file", given{"path": "config/MEMORY.md"})
	d.run("write_file", given{"path": "MEMORY.md", "content": "still the project's"})
}
