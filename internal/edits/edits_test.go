package edits_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
)

func TestEditsAreFoundByTheShapeOfTheInput(t *testing.T) {
	type all = []edits.Edit
	for name, c := range map[string]struct {
		input string
		want  all
	}{
		"an old and a new text": {
			`{"file_path":"/w/a.go","old_string":"one\ntwo\nthree","new_string":"one\n2\nthree"}`,
			all{{Path: "/w/a.go", Added: []string{"2"}, Removed: []string{"two"}}},
		},
		"other names of the same": {
			`{"filePath":"a.go","oldText":"x","newText":"y\nz"}`,
			all{{Path: "a.go", Added: []string{"y", "z"}, Removed: []string{"x"}}},
		},
		"a content":  {`{"path":"a.go","content":"one\n\ntwo\n"}`, all{{Path: "a.go", Added: []string{"one", "", "two"}, Whole: true}}},
		"an address": {`{"path":"file:///w/a.go","content":"x"}`, all{{Path: "/w/a.go", Added: []string{"x"}, Whole: true}}},
		"several edits of one file": {
			`{"file_path":"a.go","edits":[{"old_string":"a","new_string":"b"},{"old_string":"","new_string":"c"}]}`,
			all{{Path: "a.go", Added: []string{"b"}, Removed: []string{"a"}}, {Path: "a.go", Added: []string{"c"}}},
		},
		"several files": {
			`{"edits":[{"path":"a.go","old_text":"a","new_text":"b"},{"path":"b.go","content":"c"}]}`,
			all{{Path: "a.go", Added: []string{"b"}, Removed: []string{"a"}}, {Path: "b.go", Added: []string{"c"}, Whole: true}},
		},
		"inserted lines":                     {`{"command":"insert","path":"a.go","insert_line":3,"new_str":"x\ny"}`, all{{Path: "a.go", Added: []string{"x", "y"}}}},
		"a cell of a notebook":               {`{"notebook_path":"/n.ipynb","cell_id":"1","new_source":"x = 1"}`, all{{Path: "/n.ipynb", Added: []string{"x = 1"}}}},
		"blocks to search":                   {`{"path":"a.go","diff":"<<<<<<< SEARCH\na\nb\n=======\na\nc\n>>>>>>> REPLACE"}`, all{{Path: "a.go", Added: []string{"c"}, Removed: []string{"b"}}}},
		"a patch as a text":                  {`"*** Begin Patch\n*** Update File: a.go\n@@\n x\n-y\n+z\n*** Add File: b.go\n+new\n*** Delete File: c.go\n*** End Patch"`, all{{Path: "a.go", Added: []string{"z"}, Removed: []string{"y"}}, {Path: "b.go", Added: []string{"new"}, Whole: true}, {Path: "c.go", Deleted: true}}},
		"a patch with a move":                {`{"input":"*** Begin Patch\n*** Update File: a.go\n*** Move to: b.go\n@@\n+z\n*** End Patch"}`, all{{Path: "b.go", From: "a.go", Added: []string{"z"}}}},
		"a patch of a shell":                 {`{"command":["apply_patch","*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch"],"workdir":"/w"}`, all{{Path: "a.go", Dir: "/w", Added: []string{"x"}, Whole: true}}},
		"a unified diff":                     {`{"patch":"diff --git a/a.go b/b.go\n--- a/a.go\n+++ b/b.go\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n"}`, all{{Path: "b.go", From: "a.go", Added: []string{"z"}, Removed: []string{"y"}}}},
		"a rename":                           {`{"patch":"diff --git a/a.go b/b.go\nsimilarity index 100%\nrename from a.go\nrename to b.go\n"}`, all{{Path: "b.go", From: "a.go"}}},
		"a diff's removed dashes":            {`{"patch":"--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,1 @@\n--- old\n+++ new\n-x\nand text\n+ no\n"}`, all{{Path: "a.sql", Added: []string{"++ new"}, Removed: []string{"-- old", "x"}}}},
		"a diff without numbers":             {`{"patch":"Here it is:\n--- a.go\n+++ a.go\n@@ ... @@\n-x\n+y\n--- b.go\n+++ b.go\n@@\n-z\nThat is all."}`, all{{Path: "a.go", Added: []string{"y"}, Removed: []string{"x"}}, {Path: "b.go", Removed: []string{"z"}}}},
		"a diff that is written":             {`{"cmd":"cat > x.patch <<EOF\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\nEOF"}`, all{{Path: "x.patch", Added: []string{"--- a/a", "+++ b/a", "@@ -1 +1 @@", "-x", "+y"}, Whole: true}}},
		"a diff that is applied":             {`{"cmd":"cd w && git apply -p1 - <<'EOF'\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\nEOF\n"}`, all{{Path: "a", Dir: "w", Added: []string{"y"}, Removed: []string{"x"}}}},
		"one that is only tried":             {`{"cmd":"git apply --check <<'EOF'\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\nEOF\n"}`, nil},
		"a printed patch":                    {`{"cmd":"echo '*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch'"}`, nil},
		"a patch in quotes":                  {`{"cmd":"apply_patch '*** Begin Patch\n*** Add File: a.go\n+x\n*** End Patch'"}`, all{{Path: "a.go", Added: []string{"x"}, Whole: true}}},
		"a here-document":                    {`{"command":"cd sub && cat > a.go <<'EOF'\none\n  two\nEOF\necho done"}`, all{{Path: "a.go", Dir: "sub", Added: []string{"one", "  two"}, Whole: true}}},
		"one that is appended":               {`{"cmd":"cat <<EOF >> a.go\none\nEOF"}`, all{{Path: "a.go", Added: []string{"one"}}}},
		"one through tee":                    {`{"cmd":"tee -a /w/a.go <<EOF\none\nEOF"}`, all{{Path: "/w/a.go", Added: []string{"one"}}}},
		"one that is a program":              {`{"cmd":"python3 - <<'EOF' > out.txt\nprint(1)\nEOF"}`, nil},
		"a moved file":                       {`{"cmd":"cd /w && git mv old/a.go 'new name.go'; ls"}`, all{{Path: "new name.go", Dir: "/w", From: "old/a.go"}}},
		"a file moved to a folder":           {`{"cmd":"mv a.go sub/"}`, all{{Path: "sub/a.go", From: "a.go"}}},
		"deleted files":                      {`{"cmd":"cd /w; rm -f a.go 'b c.go' && git rm -q d.go"}`, all{{Path: "a.go", Dir: "/w", Deleted: true}, {Path: "b c.go", Dir: "/w", Deleted: true}, {Path: "d.go", Dir: "/w", Deleted: true}}},
		"files that are many":                {`{"cmd":"rm *.go; rm -rf sub; git rm --cached a.go; rm $f"}`, nil},
		"a text that is printed into a file": {`{"cmd":"cd /w && echo 'one; two | \"x\"' > a.go && ls"}`, all{{Path: "a.go", Dir: "/w", Added: []string{`one; two | "x"`}, Whole: true}}},
		"a diff that is written and applied": {`{"cmd":"cat > '/tmp/x.patch' <<'EOF'\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\nEOF\ncd w && git apply --check /tmp/x.patch\ngit apply /tmp/x.patch"}`, all{{Path: "/tmp/x.patch", Added: []string{"--- a/a", "+++ b/a", "@@ -1 +1 @@", "-x", "+y"}, Whole: true}, {Path: "a", Dir: "w", Added: []string{"y"}, Removed: []string{"x"}}}},
		"one that is appended by echo":       {`{"cmd":"echo -n \"it's \\\"so\\\"\" >> a.go"}`, all{{Path: "a.go", Added: []string{`it's "so"`}}}},
		"one of printf":                      {`{"cmd":"printf 'one\\n\\ttwo\\n' > a.go; printf '%s\\n' one 'two three' >> b.go"}`, all{{Path: "a.go", Added: []string{"one", "\ttwo"}, Whole: true}, {Path: "b.go", Added: []string{"one", "two three"}}}},
		"one that goes through tee":          {`{"cmd":"echo one | tee -a a.go b.go > /dev/null"}`, all{{Path: "a.go", Added: []string{"one"}}, {Path: "b.go", Added: []string{"one"}}}},
		"one that the shell makes":           {`{"cmd":"echo $HOME > a.go; echo \"$(date)\" > b.go; date > c.go; echo a 2> d.go; echo b >&2; echo 'x > e.go; printf '%d' 3 > f.go; echo x > $f; grep y z | tee g.go; echo 'a\\tb' > h.go"}`, nil},
		"one in a loop":                      {`{"cmd":"for f in a b; do echo x > $f.go; done"}`, nil},
		"what sed replaces":                  {`{"cmd":"sed -i 's/one/two/g' a.go b.go; sed -i '' -e 's|x|y|g' c.go; sed -i.bak s,x,,g 'd e.go'"}`, all{{Path: "a.go"}, {Path: "b.go"}, {Path: "c.go"}, {Path: "d e.go"}}},
		"what sed changes":                   {`{"cmd":"sed -i '3,5d' a.go; sed -E -i 's/a(b)/\\1/' b.go"}`, all{{Path: "a.go"}, {Path: "b.go"}}},
		"what sed prints":                    {`{"cmd":"sed -n 1,5p a.go; sed 's/one/two/g' a.go"}`, nil},
		"a copied file":                      {`{"cmd":"cp -p a.go sub/ && install -m 644 b.go 'c d.go'; cp a b c/; cp $x y"}`, all{{Path: "sub/a.go", From: "a.go", Copied: true}, {Path: "c d.go", From: "b.go", Copied: true}}},
		"what perl replaces":                 {`{"cmd":"perl -pi -e 's/one/two/g' a.go; perl -i.bak -pe 's/(x)/$1/' b.go; perl -ne print c.go"}`, all{{Path: "a.go"}, {Path: "b.go"}}},
		"what a program writes":              {`{"cmd":"python3 - <<'EOF'\nfrom pathlib import Path\n# don't\np = Path('sub/a.py')\ns = p.read_text()\ns = s.replace('''one\nkept\n''', '''kept\n\"two\"\n''')\np.write_text(s)\nEOF"}`, all{{Path: "sub/a.py", Added: []string{`"two"`}, Removed: []string{"one", "kept"}}}},
		"what an argument of python writes":  {`{"cmd":"cd /w && python -c \"\nopen('a.py', 'w').write('one\\\\ntwo\\\\n')\n\" && rm b.py"}`, all{{Path: "a.py", Dir: "/w", Added: []string{"w", "one", "two"}}}},
		"a program that reads":               {`{"cmd":"python3 - <<'EOF'\nprint(open('a.py').read())\nEOF"}`, nil},
		"a string of PowerShell":             {`{"command":"@'\none\ntwo\n'@ | Set-Content -Path sub\\a.go -Encoding utf8"}`, all{{Path: `sub\a.go`, Added: []string{"one", "two"}, Whole: true}}},
		"one that is added":                  {`{"command":"Add-Content 'a b.go' -Value @'\none\n'@\nGet-Content a.go"}`, all{{Path: "a b.go", Added: []string{"one"}}}},
		"a chunk with other names":           {`{"TargetFile":"a.go","ReplacementChunks":[{"AllowMultiple":true,"TargetContent":"a","ReplacementContent":"b"}]}`, all{{Path: "a.go", Added: []string{"b"}, Removed: []string{"a"}}}},
		"a part for another model":           {`{"target_file":"a.go","instructions":"x","code_edit":"// ... existing code ...\none\n// ... existing code ..."}`, all{{Path: "a.go", Added: []string{"one"}}}},
		"lines at a number":                  {`{"path":"a.go","line":3,"content":"x\ny"}`, all{{Path: "a.go", Added: []string{"x", "y"}}}},
		"an appended text":                   {`{"command":"append","path":"a.go","new_str":"x"}`, all{{Path: "a.go", Added: []string{"x"}}}},
		"a cell of another notebook":         {`{"target_notebook":"/n.ipynb","cell_idx":1,"old_string":"x","new_string":"y"}`, all{{Path: "/n.ipynb", Added: []string{"y"}, Removed: []string{"x"}}}},
		"blocks with a line's number":        {`{"path":"a.go","diff":"<<<<<<< SEARCH\n:start_line:7\n-------\na\n=======\nc\n>>>>>>> REPLACE"}`, all{{Path: "a.go", Added: []string{"c"}, Removed: []string{"a"}}}},
		"a file that is read":                {`{"file_path":"a.go","offset":1}`, nil},
		"a search":                           {`{"path":".","pattern":"x","glob":"*.go"}`, nil},
		"a path of two lines":                {`{"path":"a\nb","content":"x"}`, nil},
		"no object":                          {`[1]`, nil},
		"half an object":                     {`{"path":"a.go","content":`, nil},
	} {
		got := edits.Of(&skein.Call{Input: json.RawMessage(c.input)})
		for i := range got {
			got[i].Hunks = nil // see TestAnEditIsApplied
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: Of(%s) (-want +got):\n%s", name, c.input, diff)
		}
	}
}

func TestFilesAreMovedAndDeletedByToolsThatSaySo(t *testing.T) {
	for _, c := range []struct {
		name, input string
		want        []edits.Edit
	}{
		{"move_file", `{"source":"a.go","destination":"b.go"}`, []edits.Edit{{Path: "b.go", From: "a.go"}}},
		{"copy_file", `{"source":"a.go","destination":"b.go"}`, []edits.Edit{{Path: "b.go", From: "a.go", Copied: true}}},
		{"delete_file", `{"target_file":"a.go"}`, []edits.Edit{{Path: "a.go", Deleted: true}}},
		{"Delete", `{"path":"a.go"}`, []edits.Edit{{Path: "a.go", Deleted: true}}},
		{"Read", `{"path":"a.go"}`, nil},
		{"route", `{"source":"a","destination":"b"}`, nil},
	} {
		if diff := cmp.Diff(c.want, edits.Of(&skein.Call{Name: c.name, Input: json.RawMessage(c.input)})); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s", c.name, c.input, diff)
		}
	}
}

func TestADiffHasAllLinesOfBoth(t *testing.T) {
	long := strings.Repeat("x\n", 2000)
	for _, c := range [][2]string{{"", ""}, {"a", ""}, {"", "a"}, {"a\nb\nc", "a\nc\nd"}, {"b\na\nb", "b\nb"}, {long, strings.Repeat("y\n", 2000)}, {long, long}} {
		var was, is []string
		edits.Diff(edits.Lines(c[0]), edits.Lines(c[1]), func(sign edits.Sign, lines []string) {
			if sign != edits.Added {
				was = append(was, lines...)
			}
			if sign != edits.Removed {
				is = append(is, lines...)
			}
		})
		if !slices.Equal(was, edits.Lines(c[0])) || !slices.Equal(is, edits.Lines(c[1])) {
			t.Errorf("Diff of %.20q and %.20q has %d and %d lines, want %d and %d", c[0], c[1], len(was), len(is), len(edits.Lines(c[0])), len(edits.Lines(c[1])))
		}
	}
}

func TestCommitsAreThoseThatGitReports(t *testing.T) {
	output := "[main 1a2b3c4] Parse the flags\n 2 files changed\n[feature/x (root-commit) 0123456789] Begin\r\n[detached HEAD abcdef0] [ci] skip\n[1] 12345\n[info abc] no\n  [main 1a2b3c5] indented"
	want := []edits.MadeCommit{{"main", "1a2b3c4", "Parse the flags"}, {"feature/x (root-commit)", "0123456789", "Begin"}, {"detached HEAD", "abcdef0", "[ci] skip"}}
	if diff := cmp.Diff(want, slices.Collect(edits.Commits(output))); diff != "" {
		t.Errorf("Commits(%q) (-want +got):\n%s", output, diff)
	}
}

func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"path":"a","diff":"<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE","command":"cat > x <<E\nE"}`))
	f.Add([]byte(`"*** Begin Patch\n*** Move to: x\n+"`))
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, e := range edits.Of(&skein.Call{Input: input}) {
			e.Apply("a\nb\n\nc") // ends
			for _, l := range slices.Concat(e.Added, e.Removed) {
				if strings.Contains(l, "\n") {
					t.Fatalf("Of(%q) has a line with a line's end: %q", input, l)
				}
			}
		}
	})
}

func TestAnEditIsApplied(t *testing.T) {
	const was = "one\ntwo\nthree\ntwo\n"
	for name, c := range map[string]struct{ input, want string }{
		"a text":              {`{"path":"a","old_string":"two","new_string":"2"}`, "one\n2\nthree\ntwo\n"},
		"a text everywhere":   {`{"path":"a","old_string":"two","new_string":"2","replace_all":true}`, "one\n2\nthree\n2\n"},
		"a content":           {`{"path":"a","content":"new"}`, "new"},
		"a patch":             {`"*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n@@ two\n three\n-two\n+zwei\n*** End of File\n*** End Patch"`, "one\n2\nthree\nzwei\n"},
		"a unified diff":      {`{"patch":"--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n one\n+and\n two\n"}`, "one\nand\ntwo\nthree\ntwo\n"},
		"the second twin":     {`{"patch":"--- a/a\n+++ b/a\n@@ -4 +4 @@\n-two\n+zwei\n"}`, "one\ntwo\nthree\nzwei\n"},
		"the one below":       {`"*** Begin Patch\n*** Update File: a\n@@ three\n-two\n+zwei\n*** End Patch"`, "one\ntwo\nthree\nzwei\n"},
		"one after the other": {`"*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n@@\n-two\n+zwei\n*** End Patch"`, "one\n2\nthree\nzwei\n"},
		"a line without end":  {`{"patch":"--- a/a\n+++ b/a\n@@ -4 +4 @@\n-two\n+zwei\n\\ No newline at end of file\n"}`, "one\ntwo\nthree\nzwei"},
		"no part of a line":   {`{"patch":"--- a/a\n+++ b/a\n@@ -4 +4 @@\n-wo\n+zwei\n"}`, "does not fit"},
		"a line put between":  {`{"patch":"--- a/a\n+++ b/a\n@@ -2,0 +3 @@\n+and\n"}`, "one\ntwo\nand\nthree\ntwo\n"},
		"one below a line":    {`"*** Begin Patch\n*** Update File: a\n@@ one\n+and\n*** End Patch"`, "one\nand\ntwo\nthree\ntwo\n"},
		"one at the end":      {`"*** Begin Patch\n*** Update File: a\n@@\n+and\n*** End Patch"`, was + "and\n"},
		"a deletion":          {`"*** Begin Patch\n*** Delete File: a\n*** End Patch"`, ""},
		"a document":          {`{"cmd":"cat > a <<E\nnew\nE"}`, "new\n"},
		"one that is added":   {`{"cmd":"cat >> a <<E\nnew\nE"}`, was + "new\n"},
		"a text of echo":      {`{"cmd":"echo new >> a"}`, was + "new\n"},
		"what sed replaces":   {`{"cmd":"sed -i s/two/2/g a"}`, "one\n2\nthree\n2\n"},
		"what sed deletes":    {`{"cmd":"sed -i 2d a"}`, "does not fit"},
		"several":             {`{"path":"a","edits":[{"old_string":"one","new_string":"1"},{"old_string":"1","new_string":"I"}]}`, "I\ntwo\nthree\ntwo\n"},
		"what is not there":   {`{"path":"a","old_string":"four","new_string":"4"}`, "does not fit"},
		"a patch that is not": {`"*** Begin Patch\n*** Update File: a\n@@\n zero\n-two\n+2\n*** End Patch"`, "does not fit"},
	} {
		got := was
		for _, e := range edits.Of(&skein.Call{Input: json.RawMessage(c.input)}) {
			var ok bool
			if got, ok = e.Apply(got); !ok {
				got = "does not fit"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s makes %q of %q, want %q", name, c.input, got, was, c.want)
		}
	}
}

func TestAUnifiedDiffIsOneThatAppliesAgain(t *testing.T) {
	long := make([]string, 60)
	for i := range long {
		long[i] = strings.Repeat("x", i+1)
	}
	changed := slices.Clone(long)
	changed[3], changed[40] = "three", "forty"
	changed = slices.Insert(changed, 20, "new", "newer")
	file := func(text string) edits.File { return edits.File{Mode: edits.NewFileMode, Text: text} }
	var none edits.File
	for _, c := range [][2]edits.File{
		{none, file("one\ntwo\n")},
		{file("one\n"), none},
		{none, file("")},
		{file(""), none},
		{file(""), file("one\n")},
		{file("one\n"), file("")},
		{file("one\ntwo\nthree\n"), file("one\n2\nthree\n")},
		{file(strings.Join(long, "\n") + "\n"), file(strings.Join(changed, "\n") + "\n")},
		{file("a\nb"), file("a\nb\n")},
		{file("a\nb\n"), file("a\nc")},
	} {
		for _, name := range []string{"f", "two words", `a "quoted" name`, "a\ttab"} {
			dir := t.TempDir()
			if c[0].Mode != "" {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(c[0].Text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			patch := edits.Unified(name, c[0], c[1])
			apply := exec.Command("git", "apply", "--unidiff-zero", "-")
			apply.Dir, apply.Stdin = dir, strings.NewReader(patch)
			if out, err := apply.CombinedOutput(); err != nil {
				t.Errorf("git apply of\n%s\n%v: %s", patch, err, out)
				continue
			}
			got, err := os.ReadFile(filepath.Join(dir, name))
			if (err == nil) != (c[1].Mode != "") || string(got) != c[1].Text {
				t.Errorf("the patch\n%s\nmakes %q, %v, want %+v", patch, got, err, c[1])
			}
		}
	}
	if patch := edits.Unified("f", file("same\n"), file("same\n")); patch != "" {
		t.Errorf("the patch of nothing is %q", patch)
	}
}
