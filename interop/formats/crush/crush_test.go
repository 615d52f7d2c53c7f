package crush

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/interoptest"
)

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{
		Format: Format(), Dir: "testdata", Tables: tables,
		Unheard: `INSERT INTO messages (id, session_id, role, parts, created_at, updated_at) SELECT 'unheard-' || ?1 || '-' || id, id, 'unheard-of', '[' || ?2 || ']', 1800000000, 1800000000 FROM sessions`,
	})
}

func TestPlacesAreThoseOfTheProjects(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	absolute := strings.ReplaceAll(filepath.Join(dir, "pears", "data"), `\`, `\\`)
	project := strings.ReplaceAll(filepath.Join(dir, "apples"), `\`, `\\`)
	write("data/projects.json", `{"projects":[{"path":"`+project+`","data_dir":".crush"},{"path":"x","data_dir":"`+absolute+`"},{"path":"`+project+`"},{"path":"relative"},7]}`)
	write("plums/crush.json", `{"options":{"data_directory":"own"}}`)
	write("plums/.crush/crush.db", "")
	write("plums/deep/x", "")
	for _, c := range []struct{ data, cwd, want string }{
		{"data", "", "apples/.crush/crush.db pears/data/crush.db"},
		{"none", "plums", "plums/own/crush.db plums/.crush/crush.db"},
		{"none", "plums/deep", "plums/.crush/crush.db"},
		{"none", "", ""},
		{"none", "grapes", "grapes/.crush/crush.db"},
	} {
		h := interop.Home{Dir: dir, Env: func(name string) string {
			return map[string]string{"CRUSH_GLOBAL_DATA": filepath.Join(dir, c.data)}[name]
		}}
		if c.cwd != "" {
			h.Cwd = filepath.Join(dir, filepath.FromSlash(c.cwd))
		}
		var got []string
		for _, p := range places(h) {
			rel, err := filepath.Rel(dir, p)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("places with %s in %q = %q, want %s", c.data, c.cwd, got, c.want)
		}
	}
}

func TestTheProgramsOwnFolderIsThatOfEachSystem(t *testing.T) {
	env := map[string]string{}
	h := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(name string) string { return env[name] }}
	for _, c := range []struct{ system, set, want string }{
		{"linux", "", "/home/ada/.local/share/crush"},
		{"darwin", "", "/home/ada/.local/share/crush"},
		{"linux", "XDG_DATA_HOME=/data", "/data/crush"},
		{"windows", "", "/home/ada/AppData/Local/crush"},
		{"windows", "LOCALAPPDATA=/local", "/local/crush"},
		{"linux", "CRUSH_GLOBAL_DATA=/own", "/own"},
	} {
		clear(env)
		name, value, _ := strings.Cut(c.set, "=")
		env[name] = value
		if got := filepath.ToSlash(dataDir(c.system, h)); got != c.want {
			t.Errorf("the folder on %s with %q = %s, want %s", c.system, c.set, got, c.want)
		}
	}
}

func TestDifferGivesTheLinesThatDiffer(t *testing.T) {
	for _, c := range []struct {
		was, is, removed, added string
		line                    int
	}{
		{"a\nb\nc\n", "a\nx\ny\nc\n", "b", "x\ny", 2},
		{"a\n", "a\nb\n", "", "b\n", 2},
		{"a", "b", "a", "b", 1},
		{"", "a\nb", "", "a\nb", 1},
		{"a\na\n", "a\n", "a\n", "", 2},
		{"same\n", "same\n", "", "", 0},
	} {
		if line, removed, added := differ(c.was, c.is); line != c.line || removed != c.removed || added != c.added {
			t.Errorf("differ(%q, %q) = %d, %q, %q, want %d, %q, %q", c.was, c.is, line, removed, added, c.line, c.removed, c.added)
		}
	}
}
