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
