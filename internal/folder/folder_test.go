package folder

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var hour = time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)

// lay creates a tree of files with these names and bytes.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "tree")
	for name, data := range files {
		at := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(data), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, hour, hour); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func linesOf(t *testing.T, root string) string {
	t.Helper()
	tr, err := Open(t.Context(), root, func(name string) bool { return name == "left" })
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	b, err := io.ReadAll(io.MultiReader(tr.Lines(tr.Files, func(name string) bool { return strings.HasSuffix(name, ".jsonl") }), tr.Dirs()))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// describe returns everything of a tree as text.
func describe(t *testing.T, root string) (out string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(root, path)
		out += fmt.Sprintf("%s %v %d %q\n", rel, info.Mode(), info.ModTime().UnixNano(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var some = map[string]string{
	"a.json": "{\n  \"x\": \"<é\u2028>\"\n}", "log.jsonl": "{}\n{\"torn", "sub/deep/b": "\xff\x00", "empty": "", "sub/none.jsonl": "",
}

func TestATreeIsWrittenAsItWas(t *testing.T) {
	root := lay(t, some)
	if err := os.Chtimes(filepath.Join(root, "sub"), hour, hour); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "x", "again")
	if err := Write(t.Context(), to, nil, strings.NewReader(linesOf(t, root))); err != nil {
		t.Fatalf("Write() = %v", err)
	}
	if got, want := describe(t, to), describe(t, root); got != want {
		t.Errorf("written again it is\n%swant\n%s", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(to), ".skein-*")); len(left) > 0 {
		t.Errorf("Write leaves %v behind", left)
	}
	if got := linesOf(t, to); got != linesOf(t, root) {
		t.Errorf("read again its lines are\n%swant\n%s", got, linesOf(t, root))
	}
}

func TestAFileOfLinesHasALineForEach(t *testing.T) {
	root := lay(t, map[string]string{"log.jsonl": "{}\n{\"torn", "left": "x"})
	want := `{"file":"log.jsonl","line":0,"text":"{}\n"}
{"file":"log.jsonl","line":1,"text":"{\"torn"}
{"file":"log.jsonl","mode":"` + mode(t, filepath.Join(root, "log.jsonl")) + `","mtime":` + fmt.Sprint(hour.UnixNano()) + `,"lines":2}
{"folder":"."`
	if got := linesOf(t, root); !strings.HasPrefix(got, want) {
		t.Errorf("Lines gives\n%swant\n%s", got, want)
	}
}

func mode(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%04o", info.Mode().Perm())
}

func TestWriteReplacesWhatDiffersAndLeavesTheRest(t *testing.T) {
	root, to := lay(t, some), lay(t, map[string]string{"a.json": "old", "other": "mine", "empty": ""})
	if err := Write(t.Context(), to, nil, strings.NewReader(linesOf(t, root))); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(filepath.Join(to, "other"))
	a, _ := os.ReadFile(filepath.Join(to, "a.json"))
	if string(b) != "mine" || string(a) != some["a.json"] {
		t.Errorf("after Write other is %q and a.json %q, want mine and what was written", b, a)
	}
}

func TestNoNameLeadsOutOfTheTree(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"../x", "/x", "a/../../x", "", ".", "a//b", `a\..\..\x`, "a\x00", "a/", "C:/x/.."} {
		l := Piece(name, 0, []byte("x"))
		err := Write(t.Context(), filepath.Join(dir, "tree"), nil, strings.NewReader(string(l.Append(nil))))
		if err == nil && name != "C:/x/.." {
			t.Errorf("Write of a file named %q gives no error", name)
		}
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) > 1 {
		t.Errorf("Write made %v", all)
	}
}

func TestWriteFollowsNoLinkOutOfTheTree(t *testing.T) {
	out := t.TempDir()
	root := lay(t, map[string]string{"a": "x"})
	if err := os.Symlink(out, filepath.Join(root, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), root, nil, strings.NewReader(string(Whole(File{Name: "sub/x", Mode: 0o600}, []byte("x")).Append(nil)))); err == nil {
		t.Error("Write through a link gives no error")
	}
	if all, _ := os.ReadDir(out); len(all) > 0 {
		t.Errorf("Write made %v behind the link", all)
	}
	tr, err := Open(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if len(tr.Files) != 1 || len(tr.Skips) != 1 || tr.Skips[0].Why != "symbolic link" {
		t.Errorf("Open finds %v and skips %v, want a and the link", tr.Files, tr.Skips)
	}
}

func TestLinesThatBelongToNoTreeAreRefused(t *testing.T) {
	one, two := 1, 2
	f := File{Name: "a", Mode: 0o600}
	for name, ls := range map[string][]Line{
		"a line is missing":       {Piece("a", 0, []byte("x\n")), {File: "a", Line: &two}},
		"fewer lines than it has": {Piece("a", 0, []byte("x\n")), End(f, two)},
		"a file comes twice":      {Whole(f, []byte("x")), Whole(f, []byte("y"))},
		"a mode is none":          {{File: "a", Mode: "rwx", Lines: &one}},
		"neither file nor folder": {{Mode: "0600"}},
	} {
		var b []byte
		for _, l := range ls {
			b = l.Append(b)
		}
		to := filepath.Join(t.TempDir(), "tree")
		if err := Write(t.Context(), to, nil, strings.NewReader(string(b))); err == nil {
			t.Errorf("%s: Write gives no error", name)
		}
		if _, err := os.Lstat(to); err == nil {
			t.Errorf("%s: Write made a tree all the same", name)
		}
	}
}

func TestALogIsAppendedToIfWhatItHasStays(t *testing.T) {
	to := lay(t, map[string]string{"a.log": "one\n", "b.log": "other\n", "c": "one\n"})
	open := map[string]*os.File{}
	for _, name := range []string{"a.log", "b.log", "c"} {
		f, err := os.OpenFile(filepath.Join(to, name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		open[name] = f
	}
	root := lay(t, map[string]string{"a.log": "one\ntwo\n", "b.log": "one\ntwo\n", "c": "one\ntwo\n"})
	if err := Write(t.Context(), to, func(name string) bool { return name != "c" }, strings.NewReader(linesOf(t, root))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.log": "one\ntwo\nits own\n", "b.log": "one\ntwo\n", "c": "one\ntwo\n"} {
		if _, err := open[name].WriteString("its own\n"); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(b) != want {
			t.Errorf("after Write, and what a program appends that has it open, %s is %q, %v, want %q", name, b, err, want)
		}
	}
}
