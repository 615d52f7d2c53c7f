package provenance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/provenance"
)

// shell has a session run a command, which is not run.
func (w *world) shell(session skein.SessionID, command string) {
	w.Helper()
	w.call(session, "Bash", map[string]any{"command": command}, "", false)
}

func TestAPartOfALineThatASessionReplaces(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", "\tresult := computeTheSum(first, second) + offset // old\n"+beta)
	w.commit("By hand")
	w.edit("one", "a.go", "computeTheSum(first, second)", "computeTheProduct(first, second)")
	w.commit("Product")
	w.is("a.go", "one -")
}

func TestTextsThatBeginAndEndWithinALine(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", "func pear() { return firstOfThem(ripe) }\n"+beta)
	w.commit("By hand")
	w.edit("one", "a.go", "return firstOfThem(ripe) }", "if ripe == nil {\n\t\tpanic(ripe)\n\t}\n\treturn lastOfThem(ripe) }")
	w.commit("Check")
	w.is("a.go", "one one one one -")
}

func TestAWholeFileKeepsTheLinesOfAnotherSession(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.write("two", "a.go", alpha+beta+gamma)
	w.commit("Both")
	w.is("a.go", "one one two")
}

func TestAWholeFileAfterTheLineWasRemovedIsTheSessionsOwn(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.edit("one", "a.go", beta, "")
	w.write("two", "a.go", alpha+beta)
	w.commit("Both")
	w.is("a.go", "one two")
}

func TestARenameBeforeTheCommit(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	if err := os.Rename(filepath.Join(w.dir, "a.go"), filepath.Join(w.dir, "b.go")); err != nil {
		t.Fatal(err)
	}
	w.shell("one", "git mv a.go b.go")
	w.commit("Begin")
	w.is("b.go", "one one")
}

func TestAFolderThatIsRenamedBeforeTheCommit(t *testing.T) {
	w := newWorld(t)
	w.write("one", "old/sub/a.go", alpha+beta)
	if err := os.Rename(filepath.Join(w.dir, "old"), filepath.Join(w.dir, "new")); err != nil {
		t.Fatal(err)
	}
	w.shell("one", "mv old new")
	w.commit("Begin")
	w.is("new/sub/a.go", "one one")
}

func TestACellOfANotebook(t *testing.T) {
	w := newWorld(t)
	lines := []string{"import numpy as np\n", "print(\"the mean\", np.mean(values))"}
	cell, err := json.MarshalIndent(map[string]any{"cells": []any{map[string]any{"cell_type": "code", "source": lines}}}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	w.file("a.ipynb", string(cell)+"\n")
	w.call("one", "NotebookEdit", map[string]any{"notebook_path": filepath.Join(w.dir, "a.ipynb"), "cell_id": "1", "new_source": strings.Join(lines, "")}, "ok", false)
	w.commit("Notebook")
	r, err := w.tracer().Blame(t.Context(), provenance.Question{File: filepath.Join(w.dir, "a.ipynb")})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range r.Lines {
		if is := strings.Contains(l.Text, "np"); is != (r.Answers[i].Certainty == provenance.Exact && !r.Answers[i].Near) {
			t.Errorf("%s is %q", l.Text, r.Answers[i].Certainty)
		}
	}
}

func TestASquashThatAForgeMade(t *testing.T) {
	w := newWorld(t)
	w.file("README", "pear\n")
	w.commit("Begin")
	w.write("one", "a.go", alpha+beta)
	w.file("README", "pear and plum\n") // another pull request of hers is merged in between
	w.git("add", "README")
	w.git("commit", "-q", "-m", "Plum (#1)")
	w.git("add", "-A")
	w.git("-c", "committer.name=GitHub", "-c", "committer.email=noreply@github.com", "commit", "-q", "-m", "Pear (#2)\n\n* First\n\n* Second")
	w.is("a.go", "one one")
}

func TestProgramsThatAreNotCalledABotByGitHub(t *testing.T) {
	for _, who := range [][2]string{{"renovate-bot", "bot@renovateapp.com"}, {"semantic-release-bot", "semantic-release-bot@martynus.net"}, {"GitHub Actions", "actions@github.com"}, {"Renovate Bot", "renovate@example.com"}} {
		w := newWorld(t)
		w.write("one", "a.go", alpha)
		w.git("add", "-A")
		w.git("-c", "user.name="+who[0], "-c", "user.email="+who[1], "commit", "-q", "-m", "Bump")
		w.is("a.go", "-")
	}
}

func TestAWindowsPath(t *testing.T) {
	w := newWorld(t)
	w.file("sub/a.go", strings.ReplaceAll(alpha+beta, "\n", "\r\n"))
	w.call("one", "write", map[string]any{"path": `C:\Users\ada\src\pear\sub\a.go`, "content": strings.ReplaceAll(alpha+beta, "\n", "\r\n")}, "ok", false)
	w.commit("Begin")
	w.is("sub/a.go", "one one")
}

func TestCommandsThatCopyAndPatch(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.commit("Begin")
	w.file("b.go", alpha+beta)
	w.shell("two", "cp a.go b.go")
	w.file("a.go", alpha+strings.ReplaceAll(beta, "beta", "zeta"))
	w.shell("two", "perl -pi -e 's/beta/zeta/g' a.go")
	w.commit("Go on")
	w.is("a.go", "one two")
}

func TestAProgramThatReplacesATextInAFile(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+beta)
	w.commit("Begin")
	w.file("a.go", alpha+gamma+delta)
	w.shell("one", "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('a.go')\ns = p.read_text()\ns = s.replace('''"+beta+"''', '''"+gamma+delta+"''')\np.write_text(s)\nEOF")
	w.commit("Go on")
	w.is("a.go", "- one one")
}

func TestAMinifiedLine(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("function a(b){return b};", 20000)
	w.file("a.js", long+"\n")
	w.commit("Begin")
	w.file("a.js", strings.Replace(long, "return b", "return compute(b)", 1)+"\n")
	w.call("one", "edit", map[string]any{"file_path": filepath.Join(w.dir, "a.js"), "old_string": "function a(b){return b}", "new_string": "function a(b){return compute(b)}"}, "ok", false)
	w.commit("Go on")
	w.is("a.js", "one")
}

func TestAFormatterThatBreaksALine(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.ts", "const result = await computeTheAnswer(firstArgument, secondArgument, thirdArgument);\n")
	w.file("a.ts", "const result = await computeTheAnswer(\n  firstArgument,\n  secondArgument,\n  thirdArgument\n);\n")
	w.commit("Format")
	w.is("a.ts", "one/partial one/partial one/partial one/partial one/partial")
}

func TestWhatAnAmendmentBrings(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha)
	w.commit("Begin")
	w.now = w.now.Add(time.Hour)
	w.edit("one", "a.go", alpha, alpha+beta)
	w.git("add", "-A")
	w.git("commit", "-q", "--amend", "--no-edit")
	w.is("a.go", "one one")
}

func TestALineAloneIsAsAmongTheOthers(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", "func alphaIsFirst() {\n\tcallTheFunction(first, second)\n}\n"+beta)
	w.write("two", "b.go", beta)
	w.file("a.go", "func alphaIsFirst() {\n\tcallTheFunction(\n\t\tfirst,\n\t\tsecond,\n\t)\n}\n"+beta)
	w.commit("Begin")
	tr := w.tracer()
	all, err := tr.Blame(t.Context(), provenance.Question{File: filepath.Join(w.dir, "a.go")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Lines {
		one, err := tr.Blame(t.Context(), provenance.Question{File: filepath.Join(w.dir, "a.go"), First: i + 1, Last: i + 1})
		if err != nil || len(one.Answers) != 1 || one.Lines[0].Number != i+1 {
			t.Fatalf("Blame of line %d: %+v, %v", i+1, one, err)
		}
		if got, want := one.Answers[0], all.Answers[i]; got.Certainty != want.Certainty || got.Write == nil || got.Write.Session != want.Write.Session {
			t.Errorf("line %d alone is %+v, among the others %+v", i+1, got, want)
		}
	}
	if _, err := tr.Blame(t.Context(), provenance.Question{File: filepath.Join(w.dir, "a.go"), First: 99, Last: 99}); err == nil {
		t.Error("Blame of a line that is not there: want an error")
	}
}

func TestAFolderOfAWorkspaceIsTheTop(t *testing.T) {
	w := newWorld(t)
	for i, dir := range []string{"/home/ada/conductor/workspaces/pear/tokyo", "/home/ada/.cursor/worktrees/pear/ab12", "/home/ada/pear/.claude/worktrees/fix", "/home/ada/.codex/worktrees/ab12/pear"} {
		id := skein.SessionID(fmt.Sprint("s", i))
		at := skein.At(w.now)
		if _, err := w.store.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{skein.NewEvent(skein.KindCreated, at, skein.Created{Project: dir, Cwd: dir}), skein.Say(at, skein.UserSays("do it"))}}); err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("cmd/f%d.go", i)
		w.file(name, alpha)
		w.call(id, "write", map[string]any{"path": dir + "/" + name, "content": alpha}, "ok", false)
	}
	w.commit("All")
	for i := range 4 {
		w.is(fmt.Sprintf("cmd/f%d.go", i), fmt.Sprint("s", i))
	}
}
