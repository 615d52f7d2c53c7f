package files_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/agent/tool/files"
)

// A desk is a folder to work in, and a home.
type desk struct {
	t         *testing.T
	dir, home string
	tools     []tool.Tool
}

// newDesk returns a desk with these files; names that end with / are folders.
func newDesk(t *testing.T, content map[string]string) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), home: t.TempDir()}
	d.tools = files.New(files.Options{Home: d.home})
	for name, text := range content {
		d.put(filepath.Join(d.dir, name), text)
	}
	return d
}

func (d *desk) put(path, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) get(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

// A given is a tool's input.
type given map[string]any

func (d *desk) find(name string) tool.Tool {
	i := slices.IndexFunc(d.tools, func(t tool.Tool) bool { return t.Spec.Name == name })
	return d.tools[i]
}

func (d *desk) try(name string, in given) (tool.Output, error) {
	return d.find(name).Run(d.t.Context(), tool.Call{Input: skein.MustJSON(in), Cwd: d.dir})
}

func (d *desk) run(name string, in given) string {
	d.t.Helper()
	out, err := d.try(name, in)
	if err != nil {
		d.t.Fatalf("%s %v: %v", name, in, err)
	}
	return out.Text
}

func (d *desk) ask(name string, in given) string {
	if ask := d.find(name).Ask; ask != nil {
		return ask(tool.Call{Input: skein.MustJSON(in), Cwd: d.dir})
	}
	return ""
}

// fails checks that the tool fails with an error that contains want.
func (d *desk) fails(name string, in given, want string) {
	d.t.Helper()
	out, err := d.try(name, in)
	if err == nil || !strings.Contains(err.Error(), want) {
		d.t.Errorf("%s %v = %q, %v; want an error with %q", name, in, out.Text, err, want)
	}
}

func TestTheToolsSayWhatTheyAre(t *testing.T) {
	safe := map[string]bool{"read_file": true, "write_file": false, "edit_file": false, "list_files": true, "search_files": true}
	tools := files.New(files.Options{})
	if len(tools) != len(safe) {
		t.Errorf("there are %d tools, want %d", len(tools), len(safe))
	}
	for _, x := range tools {
		if want, ok := safe[x.Spec.Name]; !ok || x.Safe != want || !json.Valid(x.Spec.Schema) || x.Title(json.RawMessage(`{"path":"a\u001bb"}`)) != `a\x1bb` {
			t.Errorf("%s: safe %v, title %q; want %v, a title in one line, and a schema", x.Spec.Name, x.Safe, x.Title(json.RawMessage(`{"path":"a\u001bb"}`)), want)
		}
		for _, in := range []string{`{"nonsense":1}`, `[]`, `{"path":`} {
			c := tool.Call{Input: json.RawMessage(in), Cwd: t.TempDir()}
			if out, err := x.Run(t.Context(), c); err == nil {
				t.Errorf("%s takes the input %s: %q", x.Spec.Name, in, out.Text)
			}
			if x.Ask != nil && x.Ask(c) != "" {
				t.Errorf("%s asks about the input %s, which it does not take", x.Spec.Name, in)
			}
		}
	}
}

func TestReadShowsNumberedLines(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "one\ntwo\n\nfour", "crlf.txt": "a\r\nb\r\n", "bad.txt": strings.Repeat("good ", 20) + "b\xffd\n", "empty": "", "long.txt": strings.Repeat("é", 3000) + "\nx\n"})
	for _, c := range []struct {
		in   given
		want string
	}{
		{given{"path": "a.txt"}, "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n"},
		{given{"path": "a.txt", "offset": 2, "limit": 1}, "     2\ttwo\n[lines 2 to 2 of 4; read on with offset 3]\n"},
		{given{"path": "a.txt", "offset": 4}, "     4\tfour\n[lines 4 to 4 of 4]\n"},
		{given{"path": "crlf.txt"}, "     1\ta\n     2\tb\n[lines end with CR LF]\n"},
		{given{"path": "bad.txt"}, "     1\t" + strings.Repeat("good ", 20) + "b\ufffdd\n[bytes that are not UTF-8 are shown as \ufffd]\n"},
		{given{"path": "empty"}, "[empty is empty]\n"},
		{given{"path": "long.txt"}, "     1\t" + strings.Repeat("é", 1000) + "… [4000 more bytes]\n     2\tx\n[long lines are cut; use search_files or shell to see all of them]\n"},
		{given{"path": filepath.Join(d.dir, "a.txt"), "limit": 4}, "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n"},
	} {
		if got := d.run("read_file", c.in); got != c.want {
			t.Errorf("read_file %v = %q, want %q", c.in, got, c.want)
		}
	}
	d.fails("read_file", given{"path": "a.txt", "offset": 5}, "a.txt has 4 lines")
	d.fails("read_file", given{"path": "gone.txt"}, "gone.txt")
	d.fails("read_file", given{"path": "."}, "is a folder")
	d.fails("read_file", given{"path": ""}, "not a file name")
	d.fails("read_file", given{"path": "a\x00b"}, "not a file name")
	d.fails("read_file", given{"path": "a.txt", "limit": -1}, "limit -1")
	d.put(filepath.Join(d.home, "h.txt"), "at home\n")
	if got := d.run("read_file", given{"path": "~/h.txt"}); !strings.Contains(got, "at home") {
		t.Errorf("read_file ~/h.txt = %q", got)
	}
}

func TestReadIsBounded(t *testing.T) {
	d := newDesk(t, map[string]string{"many": strings.Repeat("x\n", 5000), "big": strings.Repeat(strings.Repeat("y", 999)+"\n", 500)})
	if got := d.run("read_file", given{"path": "many"}); strings.Count(got, "\tx\n") != 2000 || !strings.HasSuffix(got, "[lines 1 to 2000 of 5000; read on with offset 2001]\n") {
		t.Errorf("5000 lines are shown as %d, and %q", strings.Count(got, "\tx\n"), got[len(got)-80:])
	}
	got := d.run("read_file", given{"path": "big"})
	if len(got) > 64<<10 || !strings.Contains(got, "of 500; read on with offset 63]") {
		t.Errorf("500 KB are shown as %d bytes, and %q", len(got), got[len(got)-80:])
	}
}

func TestReadTellsOfWhatIsNoText(t *testing.T) {
	var pic bytes.Buffer
	if err := png.Encode(&pic, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, map[string]string{"a.bin": "\x7fELF\x00\x01", "a.png": pic.String(), "latin": strings.Repeat("\xe4\xf6", 50)})
	if got := d.run("read_file", given{"path": "a.bin"}); got != "[a.bin is not text: 6 bytes of application/octet-stream]\n" {
		t.Errorf("a binary file is %q", got)
	}
	if got := d.run("read_file", given{"path": "latin"}); !strings.Contains(got, "is not text") {
		t.Errorf("bytes that are no UTF-8 are %q", got)
	}
	out, err := d.try("read_file", given{"path": "a.png"})
	if err != nil || len(out.Files) != 1 || len(out.Blobs) != 1 {
		t.Fatalf("an image is %+v, %v; want a file", out, err)
	}
	if f := out.Files[0]; f.Media != "image/png" || f.Name != "a.png" || f.Blob != out.Blobs[0].Hash || !bytes.Equal(out.Blobs[0].Data, pic.Bytes()) {
		t.Errorf("an image is the file %+v; want its bytes, type and name", f)
	}
}

func TestWriteIsAllOrNothing(t *testing.T) {
	d := newDesk(t, map[string]string{"old.sh": "was"})
	if err := os.Chmod(filepath.Join(d.dir, "old.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if got, want := d.run("write_file", given{"path": "new/deep/a.txt", "content": "x\r\ny\n"}), "made new/deep/a.txt: 5 bytes, 2 lines\n"; got != want || d.get("new/deep/a.txt") != "x\r\ny\n" {
		t.Errorf("write_file = %q with %q in the file, want %q", got, d.get("new/deep/a.txt"), want)
	}
	if got := d.run("write_file", given{"path": "old.sh", "content": "is"}); !strings.HasPrefix(got, "wrote old.sh") || d.get("old.sh") != "is" {
		t.Errorf("write_file = %q with %q in the file", got, d.get("old.sh"))
	}
	if s, err := os.Stat(filepath.Join(d.dir, "old.sh")); err != nil || runtime.GOOS != "windows" && s.Mode().Perm() != 0o750 {
		t.Errorf("the file's mode is %v, %v; want the one it had", s.Mode(), err)
	}
	if left, err := os.ReadDir(d.dir); err != nil || len(left) != 2 {
		t.Errorf("the folder has %v, %v; want nothing but the two", left, err)
	}
	d.fails("write_file", given{"path": "new", "content": ""}, "is a folder")
	d.fails("write_file", given{"path": "old.sh/x", "content": ""}, "old.sh")
	d.fails("write_file", given{"path": "x"}, "content: missing")
	if err := os.Chmod(filepath.Join(d.dir, "old.sh"), 0o444); err != nil {
		t.Fatal(err)
	}
	d.fails("write_file", given{"path": "old.sh", "content": "no"}, "read-only")
}

func TestEditReplacesWhatStandsThereOnce(t *testing.T) {
	const text = "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 1\n}\n"
	d := newDesk(t, map[string]string{"a.go": text, "crlf": "one\r\ntwo\r\nthree\r\n", "mixed": "one\r\ntwo\nthree\n", "bom": "\ufeffhead\n", "raw": "a\xffb\n"})
	if got := d.run("edit_file", given{"path": "a.go", "old_string": "b() {\n\treturn 1", "new_string": "b() {\n\treturn 2"}); got != "changed a.go at line 4\n" {
		t.Errorf("edit_file = %q", got)
	}
	if want := strings.Replace(text, "b() {\n\treturn 1", "b() {\n\treturn 2", 1); d.get("a.go") != want {
		t.Errorf("the file is %q, want %q", d.get("a.go"), want)
	}
	d.fails("edit_file", given{"path": "a.go", "old_string": "func", "new_string": "x"}, "a.go: old_string is in the file 2 times, at lines 1, 4")
	d.fails("edit_file", given{"path": "a.go", "old_string": "a() {\n  return 1", "new_string": "x"}, "with other spaces or line endings, it is at line 1")
	d.fails("edit_file", given{"path": "a.go", "old_string": "nowhere", "new_string": "x"}, "old_string is not in the file")
	d.fails("edit_file", given{"path": "a.go", "old_string": "", "new_string": "x"}, "empty")
	d.fails("edit_file", given{"path": "a.go", "old_string": "x", "new_string": "x"}, "same")
	d.fails("edit_file", given{"path": "a.go", "old_string": "x"}, "new_string: missing")
	d.fails("edit_file", given{"path": "gone", "old_string": "x", "new_string": "y"}, "gone")
	if got := d.run("edit_file", given{"path": "a.go", "old_string": "func", "new_string": "fn", "replace_all": true}); got != "changed a.go at lines 1, 4\n" || strings.Contains(d.get("a.go"), "func") {
		t.Errorf("replace_all = %q, and the file %q", got, d.get("a.go"))
	}
	for name, c := range map[string]struct{ old, to, want string }{
		"crlf":  {"two\nthree", "2\n3\n", "one\r\n2\r\n3\r\n\r\n"},
		"mixed": {"two\nthree", "2\n3", "one\r\n2\n3\n"},
		"bom":   {"head", "foot", "\ufefffoot\n"},
		"raw":   {"b", "c", "a\xffc\n"},
	} {
		if d.run("edit_file", given{"path": name, "old_string": c.old, "new_string": c.to}); d.get(name) != c.want {
			t.Errorf("%s is %q, want %q", name, d.get(name), c.want)
		}
	}
}

func TestAPersonIsAskedBeforeWritingOutside(t *testing.T) {
	d := newDesk(t, map[string]string{"in.txt": "a", ".git/config": "a"})
	outside := t.TempDir()
	d.put(filepath.Join(outside, "there.txt"), "a")
	links := map[string]string{
		"link.txt": filepath.Join(outside, "there.txt"), "dangling": filepath.Join(outside, "not-yet"), "folder": outside,
		"again": "dangling", "home": "in.txt",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(d.dir, name)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("this system does not let us make symbolic links")
			}
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"in.txt": "", "new/deep/x": "", "home": "", "./a/../b": "", filepath.Join(d.dir, "x"): "",
		"../x": "outside of", "link.txt": "really " + outside, "dangling": "not-yet", "again": "not-yet", "folder/x": "outside of", "folder/new/x": "outside of",
		filepath.Join(outside, "x"): "outside of", "~/x": "outside of", "a/../../x": "outside of",
		".git/hooks/pre-commit": "programs obey", ".git/config": "programs obey", ".bashrc": "programs obey", ".claude/settings.json": "programs obey", "sub/.skein/config.toml": "programs obey",
		".config/skein/config.toml": "programs obey", ".local/bin/ls": "programs obey", "Library/Application Support/skein/config.toml": "programs obey", ".vscode/tasks.json": "programs obey",
		".env": "may contain secrets",
	} {
		for _, x := range []string{"write_file", "edit_file"} {
			in := given{"path": path, "content": "x"}
			if x == "edit_file" {
				in = given{"path": path, "old_string": "a", "new_string": "b"}
			}
			if q := d.ask(x, in); (q == "") != (want == "") || !strings.Contains(q, want) {
				t.Errorf("%s %s asks %q, want %q", x, path, q, want)
			}
		}
	}
	d.put(filepath.Join(d.dir, ".config/own/in.txt"), "a")
	below := *d
	below.dir = filepath.Join(d.dir, ".config", "own")
	if q := below.ask("write_file", given{"path": "in.txt", "content": "x"}); q != "" {
		t.Errorf("write_file in a project that lies in .config asks %q, want nothing", q)
	}
	d.run("write_file", given{"path": "dangling", "content": "x"})
	if b, err := os.ReadFile(filepath.Join(outside, "not-yet")); err != nil || string(b) != "x" {
		t.Errorf("writing through a link: %q, %v; want the link kept and the file written", b, err)
	}
}

func TestAPersonIsAskedBeforeReadingSecrets(t *testing.T) {
	d := newDesk(t, map[string]string{".env": "a", "sub/.env.local": "a", ".env.example": "a", "main.go": "a"})
	d.put(filepath.Join(d.home, ".ssh/config"), "a")
	if err := os.Symlink(filepath.Join(d.home, ".ssh/config"), filepath.Join(d.dir, "innocent.txt")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		".env": true, "sub/.env.local": true, ".ENV": true, "~/.ssh/config": true, "~/.aws/credentials": true, "server.pem": true, "/home/x/id_ed25519": true,
		"/proc/self/environ": true, "/proc/1/environ": true, "~/.cargo/credentials.toml": true, "~/.vault-token": true, "~/.local/state/skein/token": true, "innocent.txt": runtime.GOOS != "windows", "~/.ssh/../.ssh/id_rsa": true,
		".env.example": false, "main.go": false, "id_rsa.pub": false, "~/notes.txt": false, "environ": false,
	} {
		if q := d.ask("read_file", given{"path": path}); (q != "") != want {
			t.Errorf("read_file %s asks %q, want a question: %v", path, q, want)
		}
	}
	if q := d.ask("search_files", given{"path": ".env", "pattern": "."}); q == "" {
		t.Error("search_files in .env asks nothing")
	}
	for i := range 50 {
		d.put(filepath.Join(d.dir, fmt.Sprint("f", i)), "a\n")
	}
	got := d.run("search_files", given{"pattern": "^a$"})
	if strings.Contains(got, ".env:") || strings.Contains(got, ".env.local:") || !strings.Contains(got, "[left out: 2 files that may contain secrets]") || !strings.Contains(got, ".env.example:1: a") {
		t.Errorf("search_files finds\n%s\nwant nothing of what may hold secrets, and that said", got)
	}
}

func TestListFindsFilesByName(t *testing.T) {
	d := newDesk(t, map[string]string{
		"main.go": "", "go.mod": "", "pkg/a.go": "", "pkg/a_test.go": "", "pkg/deep/b.go": "", "web/x.ts": "", "web/y.tsx": "", "web/z.css": "",
		".git/HEAD": "", ".hidden/c.go": "", ".gitignore": "*.log\n/build/\n!keep.log\n", "a.log": "", "keep.log": "", "build/out.go": "", "pkg/build/in.go": "", "pkg/p.log": "",
	})
	for _, c := range []struct {
		in   given
		want string
	}{
		{given{}, ".gitignore .hidden/ go.mod keep.log main.go pkg/ web/"},
		{given{"path": "pkg"}, "pkg/a.go pkg/a_test.go pkg/build/ pkg/deep/"},
		{given{"pattern": "*.go"}, ".hidden/c.go main.go pkg/a.go pkg/a_test.go pkg/build/in.go pkg/deep/b.go"},
		{given{"pattern": "**/*.go", "path": "pkg"}, "pkg/a.go pkg/a_test.go pkg/build/in.go pkg/deep/b.go"},
		{given{"pattern": "pkg/*.go"}, "pkg/a.go pkg/a_test.go"},
		{given{"pattern": "pkg/**/b.go"}, "pkg/deep/b.go"},
		{given{"pattern": "web/*.{ts,tsx}"}, "web/x.ts web/y.tsx"},
		{given{"pattern": "[x-y].ts?"}, "web/y.tsx"},
		{given{"pattern": "?.css"}, "web/z.css"},
		{given{"pattern": "*.log"}, "keep.log"},
		{given{"pattern": "*.log", "ignored": true}, "a.log keep.log pkg/p.log"},
		{given{"pattern": "*.log", "path": "pkg", "ignored": true}, "pkg/p.log"},
		{given{"pattern": "*.log", "path": "pkg"}, `[no file matches "*.log" in pkg]`},
		{given{"pattern": "out.go", "ignored": true}, "build/out.go"},
		{given{"pattern": "[!m]*.mod"}, "go.mod"},
	} {
		if got := strings.Join(strings.Fields(d.run("list_files", c.in)), " "); got != c.want {
			t.Errorf("list_files %v = %s, want %s", c.in, got, c.want)
		}
	}
	if got := d.run("list_files", given{"pattern": "*.go", "limit": 2}); !strings.Contains(got, "[4 more;") || strings.Count(got, ".go\n") != 2 {
		t.Errorf("list_files with limit 2 = %q, want two and that there are 4 more", got)
	}
	if got := d.run("list_files", given{"pattern": "*.rs"}); !strings.Contains(got, `no file matches "*.rs"`) {
		t.Errorf("list_files *.rs = %q", got)
	}
	d.fails("list_files", given{"path": "gone"}, "gone")
	d.fails("list_files", given{"path": "main.go"}, "is not a folder")
	d.fails("list_files", given{"pattern": "{a"}, "not a glob")
	d.fails("list_files", given{"limit": 5001}, "5001")
}

func TestSearchFindsLines(t *testing.T) {
	d := newDesk(t, map[string]string{
		"a.go": "package a\n\nfunc Find() {}\n\nfunc find2() {}\n", "b/b.go": "package b\r\nvar Find = 1\r\n", "c.txt": "Find\n", "bin": "Find\x00",
		".gitignore": "out\n", "out/x.go": "Find\n", "wide.go": strings.Repeat("a", 1000) + "Find" + strings.Repeat("b", 1000) + "\n", "last.md": "no line feed: Find",
	})
	for _, c := range []struct {
		in   given
		want string
	}{
		{given{"pattern": "Find", "glob": "?.go"}, "a.go:3: func Find() {}\nb/b.go:2: var Find = 1\n[2 lines in 2 files]\n"},
		{given{"pattern": "^func find", "ignore_case": true, "path": "a.go"}, "a.go:3: func Find() {}\na.go:5: func find2() {}\n[2 lines in 1 file]\n"},
		{given{"pattern": "Find\\(", "context": 1}, "a.go-2- \na.go:3: func Find() {}\na.go-4- \n[1 line in 1 file]\n"},
		{given{"pattern": "^func", "context": 2, "path": "a.go"}, "a.go-1- package a\na.go-2- \na.go:3: func Find() {}\na.go-4- \na.go:5: func find2() {}\n[2 lines in 1 file]\n"},
		{given{"pattern": "Find", "path": "out", "ignored": true}, "out/x.go:1: Find\n[1 line in 1 file]\n"},
		{given{"pattern": "Find$", "glob": "*.{txt,md}"}, "c.txt:1: Find\nlast.md:1: no line feed: Find\n[2 lines in 2 files]\n"},
		{given{"pattern": "nothing at all"}, "[no match]\n"},
		{given{"pattern": "aFindb"}, "wide.go:1: …" + strings.Repeat("a", 101) + "Find" + strings.Repeat("b", 295) + "…\n[1 line in 1 file]\n"},
		{given{"pattern": "\\z", "path": "c.txt"}, "[no match]\n"},
		{given{"pattern": "$", "path": "c.txt"}, "c.txt:1: Find\n[1 line in 1 file]\n"},
		{given{"pattern": "a\\n\\nfunc", "glob": "a.go"}, "a.go:1: package a\n[1 line in 1 file]\n"},
	} {
		if got := d.run("search_files", c.in); got != c.want {
			t.Errorf("search_files %v =\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
	for _, c := range []struct {
		in   given
		want string
	}{
		{given{"pattern": "("}, "missing closing )"},
		{given{"pattern": ""}, "empty"},
		{given{"pattern": "a", "context": 11}, "context 11"},
		{given{"pattern": "a", "limit": 0}, "limit 0"},
		{given{"pattern": "a", "path": "gone"}, "gone"},
		{given{"pattern": strings.Repeat("a", 5000)}, "5000 bytes"},
	} {
		d.fails("search_files", c.in, c.want)
	}
}

func TestSearchIsBounded(t *testing.T) {
	d := newDesk(t, map[string]string{"many": strings.Repeat("x\n", 5000), "wide": strings.Repeat(strings.Repeat("y", 500)+"\n", 900), "large": strings.Repeat("z", 17<<20)})
	if got := d.run("search_files", given{"pattern": "x"}); strings.Count(got, "many:") != 100 || !strings.Contains(got, "there are more matches") {
		t.Errorf("5000 matches are shown as %d", strings.Count(got, "many:"))
	}
	if got := d.run("search_files", given{"pattern": "y", "limit": 1000, "context": 3}); len(got) > 64<<10 || !strings.Contains(got, "there are more matches") {
		t.Errorf("450 KB of matches are shown as %d bytes", len(got))
	}
	if got := d.run("search_files", given{"pattern": "z"}); !strings.Contains(got, "[left out: 1 file too large]") {
		t.Errorf("a file of 17 MB: %q, want that it was left out", got)
	}
}
