package provenance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/provenance"
)

// A world is a repository, and a store with the sessions that worked on it.
type world struct {
	*testing.T
	dir   string
	store skein.Store
	now   time.Time
	calls int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, dir: filepath.Join(t.TempDir(), "pear"), store: memory.New(), now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	t.Cleanup(func() { w.store.Close() })
	if err := os.Mkdir(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.git("init", "-q", "-b", "main")
	return w
}

// git runs a command of Git as ada, at the world's time, which goes on by an hour.
func (w *world) git(args ...string) string {
	w.Helper()
	if args[0] != "rev-parse" {
		w.now = w.now.Add(time.Hour)
	}
	c := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"}, args...)...)
	c.Dir = w.dir
	c.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+w.now.Format(time.RFC3339), "GIT_COMMITTER_DATE="+w.now.Format(time.RFC3339), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := c.CombinedOutput()
	if err != nil {
		w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// file writes a file by hand.
func (w *world) file(name, text string) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// commit commits everything.
func (w *world) commit(subject string) string {
	w.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "-m", subject)
	return w.git("rev-parse", "HEAD")
}

// call appends to a session a call of a tool and its result, at the world's time, which
// goes on by two minutes.
func (w *world) call(session skein.SessionID, tool string, input map[string]any, result string, failed bool) {
	w.Helper()
	w.now = w.now.Add(2 * time.Minute)
	w.calls++
	id := fmt.Sprintf("c%d", w.calls)
	in, err := json.Marshal(input)
	if err != nil {
		w.Fatal(err)
	}
	at := skein.At(w.now)
	var all []skein.Event
	if _, err := w.store.Session(w.Context(), session); err != nil {
		all = append(all, skein.NewEvent(skein.KindCreated, at, skein.Created{Project: w.dir, Cwd: w.dir, Agent: "coder"}), skein.Say(at, skein.UserSays("do it")))
	}
	all = append(all,
		skein.Say(at, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: tool, Input: in}}}}),
		skein.Say(at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Name: tool, Text: skein.Text(result), Failed: failed}}}}))
	if _, err := w.store.Append(w.Context(), skein.Batch{Session: session, Events: all}); err != nil {
		w.Fatal(err)
	}
}

// write has a session write a whole file, also on disk.
func (w *world) write(session skein.SessionID, name, text string) {
	w.Helper()
	w.file(name, text)
	w.call(session, "write", map[string]any{"path": filepath.Join(w.dir, name), "content": text}, "ok", false)
}

// edit has a session replace a text in a file, also on disk.
func (w *world) edit(session skein.SessionID, name, was, is string) {
	w.Helper()
	path := filepath.Join(w.dir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	if !strings.Contains(string(text), was) {
		w.Fatalf("%s has no %q", name, was)
	}
	w.file(name, strings.Replace(string(text), was, is, 1))
	w.call(session, "edit", map[string]any{"file_path": path, "old_string": was, "new_string": is}, "ok", false)
}

func (w *world) tracer() *provenance.Tracer {
	w.Helper()
	tr, err := provenance.Open(w.Context(), w.store, w.dir)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := tr.Close(); err != nil {
			w.Error(err)
		}
	})
	return tr
}

// is fails the test unless the lines of a file are by these sessions: one word a line, the
// session, "-" for nobody, with the certainty after a slash unless that is exact.
func (w *world) is(name, want string) {
	w.Helper()
	tr := w.tracer()
	r, err := tr.Blame(w.Context(), provenance.Question{File: filepath.Join(w.dir, name)})
	if err != nil {
		w.Fatal(err)
	}
	var got []string
	for _, a := range r.Answers {
		switch a.Certainty {
		case "":
			got = append(got, "-")
		case provenance.Exact:
			got = append(got, string(a.Write.Session))
		default:
			got = append(got, string(a.Write.Session)+"/"+string(a.Certainty))
		}
	}
	if s := strings.Join(got, " "); s != want {
		var b strings.Builder
		for i, l := range r.Lines {
			fmt.Fprintf(&b, "%.8s %-12s %s\n", l.Commit.Hash, got[i], l.Text)
		}
		w.Errorf("the lines of %s are by %s\nwant                 %s\n%s", name, s, want, b.String())
	}
}

const (
	alpha = "func alphaIsFirst() {}\n"
	beta  = "func betaIsSecond() {}\n"
	gamma = "func gammaIsThird() {}\n"
	delta = "func deltaIsFourth() {}\n"
)

func TestALineIsTheSessionsThatPutItThere(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.commit("Begin")
	w.edit("two", "a.go", beta, beta+gamma)
	w.file("a.go", alpha+beta+gamma+delta) // by hand
	w.commit("Go on")
	w.is("a.go", "one one two two/file")
}

func TestWhatIsNotCommittedHasASessionToo(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha)
	w.commit("Begin")
	w.edit("one", "a.go", alpha, alpha+beta)
	w.is("a.go", "- one")
}

func TestTwoAgentsInOneFile(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.edit("two", "a.go", alpha, alpha+gamma)
	w.edit("one", "a.go", beta, beta+delta)
	w.commit("Both")
	w.is("a.go", "one two one one")
}

func TestAPersonWhoEditsTheAgentsLine(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.file("a.go", alpha+"func betaIsOurs() {}\n")
	w.commit("Rename")
	w.is("a.go", "one one/file")
}

func TestALineThatAPersonRepeats(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", "package pear\n\nfunc one() {\n}\n\nfunc two() {\n}\n")
	w.commit("by hand")
	w.edit("alice", "a.go", "func two() {\n", "func two() {\n\tcheckTheStem(2)\n")
	w.file("a.go", "package pear\n\nfunc one() {\n\tcheckTheStem(2)\n}\n\nfunc two() {\n\tcheckTheStem(2)\n}\n")
	w.commit("both")
	w.is("a.go", "- - - alice/file - - - alice -")
}

func TestAFormatterLeavesItToTheAgent(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", "if x==1 { callTheFunction( x ) }\n"+beta)
	w.file("a.go", "\tif x == 1 {callTheFunction(x)}\n\t"+beta)
	w.commit("Format")
	w.is("a.go", "one/partial one")
}

func TestLineEndsDoNotMatter(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.file("a.go", strings.ReplaceAll(alpha+beta, "\n", "\r\n"))
	w.commit("CRLF")
	w.is("a.go", "one one")
}

func TestShortLinesGoWithThoseBesideThem(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", "func alphaIsFirst() {\n\n}\n")
	w.commit("Begin")
	w.file("a.go", "func alphaIsFirst() {\n\n}\n\n}\n")
	w.commit("By hand")
	w.is("a.go", "one one one - -")
}

func TestABotsLinesAreNobodys(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha)
	w.git("add", "-A")
	w.git("-c", "user.name=dependabot[bot]", "-c", "user.email=1+dependabot[bot]@users.noreply.github.com", "commit", "-q", "-m", "Bump")
	w.is("a.go", "-")
}

func TestACallThatFailedWroteNothing(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+beta)
	w.call("one", "edit", map[string]any{"file_path": filepath.Join(w.dir, "a.go"), "old_string": alpha, "new_string": alpha + beta}, "old_string is not there", true)
	w.commit("By hand")
	w.is("a.go", "- -")
}

func TestTheSameLineInAnotherRepositoryIsAnothers(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha)
	w.call("one", "write", map[string]any{"path": "/elsewhere/plum/a.go", "content": alpha}, "ok", false)
	w.commit("By hand")
	w.is("a.go", "-")
}

func TestAnEditAfterTheCommitIsNotOfIt(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+beta)
	w.commit("By hand")
	w.now = w.now.Add(time.Hour)
	w.write("one", "a.go", alpha+beta)
	w.is("a.go", "- -")
}

func TestARename(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta+gamma)
	w.commit("Begin")
	w.git("mv", "a.go", "b.go")
	w.commit("Rename")
	w.edit("two", "b.go", gamma, gamma+delta)
	w.commit("Go on")
	w.is("b.go", "one one one two")
}

func TestLinesThatWereMovedToAnotherFile(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta+gamma+delta)
	w.file("b.go", alpha+beta+gamma)
	w.file("a.go", delta)
	w.commit("Split")
	w.is("b.go", "one/moved one/moved one/moved")
	w.is("a.go", "one")
}

func TestPartialStaging(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha)
	w.write("one", "b.go", beta)
	w.git("add", "a.go")
	w.git("commit", "-q", "-m", "A")
	w.call("one", "shell", map[string]any{"command": "git status"}, "b.go", false) // the session goes on
	w.commit("B")
	w.is("a.go", "one")
	w.is("b.go", "one")
}

func TestWhatTheAuthorCommittedWithoutIsAHint(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.file("b.go", gamma)
	w.git("add", "b.go")
	w.git("commit", "-q", "-m", "Without")
	w.commit("With")
	w.is("a.go", "one/earlier one/earlier")
}

func TestTheSessionThatMadeTheCommit(t *testing.T) {
	w := newWorld(t)
	w.file("go.sum", "example.com/pear v1.0.0 h1:abc\n")
	hash := w.commit("Add the module")
	w.call("one", "shell", map[string]any{"command": "go mod tidy && git commit -am 'Add the module'"}, "[main "+hash[:7]+"] Add the module\n 1 file changed", false)
	w.is("go.sum", "one/commit")
}

func TestASquashKeepsTheSessions(t *testing.T) {
	w := newWorld(t)
	w.file("README", "pear\n")
	w.commit("Begin")
	w.git("checkout", "-q", "-b", "work")
	w.write("one", "a.go", alpha)
	w.commit("One")
	w.edit("two", "a.go", alpha, alpha+beta)
	w.commit("Two")
	w.git("checkout", "-q", "main")
	w.git("merge", "-q", "--squash", "work")
	w.commit("Both")
	w.is("a.go", "one two")
}

func TestARebaseAndACherryPickKeepTheSessions(t *testing.T) {
	w := newWorld(t)
	w.file("README", "pear\n")
	w.commit("Begin")
	w.git("checkout", "-q", "-b", "work")
	w.write("one", "a.go", alpha)
	w.commit("One")
	w.write("one", "c.go", gamma)
	picked := w.commit("Three")
	w.git("checkout", "-q", "main")
	w.file("README", "pear\nand plum\n")
	w.commit("Meanwhile")
	w.git("cherry-pick", picked)
	w.is("c.go", "one")
	w.git("checkout", "-q", "work")
	w.git("rebase", "-q", "main")
	w.is("a.go", "one")
}

func TestAMergeKeepsTheSessions(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha)
	w.commit("Begin")
	w.git("checkout", "-q", "-b", "work")
	w.write("two", "b.go", beta)
	w.commit("Two")
	w.git("checkout", "-q", "main")
	w.edit("three", "a.go", alpha, alpha+gamma)
	w.commit("Three")
	w.git("merge", "-q", "--no-ff", "-m", "Merge", "work")
	w.is("a.go", "one three")
	w.is("b.go", "two")
}

func TestARevertGivesTheLinesBackToTheirSession(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.commit("Begin")
	w.edit("two", "a.go", beta, "")
	gone := w.commit("Remove")
	w.git("revert", "--no-edit", gone)
	w.is("a.go", "one one/earlier")
}

func TestAShellThatWritesAFile(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+beta)
	w.call("one", "Bash", map[string]any{"command": "cd " + w.dir + " && cat > a.go <<'EOF'\n" + alpha + beta + "EOF"}, "", false)
	w.commit("Begin")
	w.is("a.go", "one one")
}

func TestATextOfAShellCommand(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha)
	w.commit("Begin")
	w.file("a.go", alpha+beta+gamma)
	w.call("one", "Bash", map[string]any{"command": "echo '" + strings.TrimSpace(beta) + "' >> a.go; printf '%s\\n' '" + strings.TrimSpace(gamma) + "' | tee -a a.go"}, "", false)
	w.commit("Go on")
	w.is("a.go", "- one one")
}

func TestWhatSedReplacesInTheLinesOfASession(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta)
	w.commit("Begin")
	w.file("a.go", alpha+strings.ReplaceAll(beta, "beta", "zeta"))
	w.call("two", "Bash", map[string]any{"command": "sed -i 's/beta/zeta/g' a.go"}, "", false)
	w.commit("Go on")
	w.is("a.go", "one two")
	w.call("two", "Bash", map[string]any{"command": "sed -i 2d a.go"}, "", false)
	w.file("a.go", alpha)
	changes, err := w.tracer().Diff(t.Context(), &skein.Session{ID: "two", Cwd: w.dir, Project: w.dir, Created: skein.At(w.now.Add(-3 * time.Minute))}, 1, 0)
	if err != nil || len(changes) != 1 || changes[0].Left != 1 {
		t.Errorf("Diff = %+v, %v; want one file with one edit that cannot be worked out", changes, err)
	}
}

func TestALinkedWorkingTreeIsOfTheSameRepository(t *testing.T) {
	w := newWorld(t)
	w.file("README", "pear\n")
	w.commit("Begin")
	w.call("one", "write", map[string]any{"path": "/home/ada/pear/a.go", "content": alpha + beta}, "ok", false) // on another machine
	tree := filepath.Join(filepath.Dir(w.dir), "elsewhere")
	w.git("worktree", "add", "-q", tree)
	w.dir = tree
	w.file("a.go", alpha+beta)
	w.commit("One")
	w.is("a.go", "one one")
}

func TestAFileOutsideOfARepositoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(alpha), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	store := memory.New()
	defer store.Close()
	if _, err := provenance.Open(t.Context(), store, dir); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("Open of a folder in no repository: %v, want an error that says so", err)
	}
}

func TestTheSessionsOfACommit(t *testing.T) {
	w := newWorld(t)
	w.file("README", "the pear\n")
	w.commit("Begin")
	w.git("checkout", "-q", "-b", "work")
	w.write("one", "a.go", alpha+beta)
	w.write("two", "b.go", gamma)
	w.file("c.go", delta)
	hash := w.commit("All three")
	tr := w.tracer()
	r, err := tr.Commit(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	want := []provenance.CommitShare{{Session: "one", Lines: 2}, {Session: "two", Lines: 1}}
	if !slices.Equal(r.Shares, want) || r.Lines != 4 || r.Commit.Subject != "All three" {
		t.Errorf("the commit %q with %d lines has the shares %+v, want %+v", r.Commit.Subject, r.Lines, r.Shares, want)
	}
	branch, err := tr.Tree.Revisions(t.Context(), "work", 10)
	if err != nil || !slices.Equal(branch, []string{hash}) {
		t.Errorf("Revisions of the branch are %v, %v; want %s", branch, err, hash)
	}
	x, err := w.store.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	if of, err := tr.CommitsOf(t.Context(), &x); err != nil || !slices.Equal(of, []string{hash}) {
		t.Errorf("CommitsOf one are %v, %v; want %s", of, err, hash)
	}
	if _, err := tr.Tree.Revisions(t.Context(), "--all", 10); err == nil {
		t.Error("Revisions takes an option of Git for a revision")
	}
}

func TestTheReasonOfAWrite(t *testing.T) {
	w := newWorld(t)
	say := func(m skein.Message) {
		t.Helper()
		if _, err := w.store.Append(t.Context(), skein.Batch{Session: "one", Events: []skein.Event{skein.Say(skein.At(w.now), m)}}); err != nil {
			t.Fatal(err)
		}
	}
	w.write("one", "other.go", delta)
	say(skein.UserSays("split the parser"))
	say(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("I look first."), {Kind: skein.PartCall, Call: &skein.Call{ID: "look", Name: "read"}}}})
	say(skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "look", Text: "..."}}}})
	say(skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartReasoning, Text: "It is too long."}, skein.TextPart("So I write it anew.")}})
	w.write("one", "a.go", alpha)
	w.commit("Split")
	r, err := w.tracer().Blame(t.Context(), provenance.Question{File: filepath.Join(w.dir, "a.go")})
	if err != nil || r.Answers[0].Write == nil {
		t.Fatalf("Blame: %+v, %v", r, err)
	}
	got, err := provenance.Why(t.Context(), w.store, r.Answers[0].Write)
	want := provenance.Rationale{Prompt: "split the parser", Said: "It is too long.\n\nSo I write it anew."}
	if err != nil || got != want {
		t.Errorf("Why is %+v, %v; want %+v", got, err, want)
	}
}

func TestWhatASessionChangedIsAPatch(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+beta)
	w.file("b.go", gamma)
	w.commit("Begin")
	w.edit("one", "a.go", beta, gamma)
	w.write("one", "new.go", delta)
	w.call("one", "edit", map[string]any{"file_path": filepath.Join(w.dir, "b.go"), "old_string": alpha, "new_string": beta}, "", false) // it does not fit
	if _, err := w.store.Append(t.Context(), skein.Batch{Session: "one", Events: []skein.Event{skein.Say(skein.At(w.now), skein.UserSays("again"))}}); err != nil {
		t.Fatal(err)
	}
	w.edit("one", "a.go", alpha, alpha+delta)
	w.commit("By the session")
	w.file("a.go", alpha+delta+gamma+beta)
	w.commit("By hand")
	w.edit("one", "a.go", beta, "")
	x, err := w.store.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	tr := w.tracer()
	text := func(s string) edits.File { return edits.File{Mode: edits.NewFileMode, Text: s} }
	for _, c := range []struct {
		first, last int
		want        []provenance.FileDiff
	}{
		{0, 0, []provenance.FileDiff{
			{Path: "a.go", Was: text(alpha + beta), Is: text(alpha + delta + gamma)},
			{Path: "new.go", Is: text(delta), Whole: true},
			{Path: "b.go", Was: text(gamma), Is: text(gamma), Left: 1},
			{Path: "a.go", Was: text(alpha + delta + gamma + beta), Is: text(alpha + delta + gamma)},
		}},
		{1, 1, []provenance.FileDiff{
			{Path: "a.go", Was: text(alpha + beta), Is: text(alpha + gamma)},
			{Path: "new.go", Is: text(delta), Whole: true},
			{Path: "b.go", Was: text(gamma), Is: text(gamma), Left: 1},
		}},
		{2, 0, []provenance.FileDiff{
			{Path: "a.go", Was: text(alpha + gamma), Is: text(alpha + delta + gamma)},
			{Path: "a.go", Was: text(alpha + delta + gamma + beta), Is: text(alpha + delta + gamma)},
		}},
	} {
		got, err := tr.Diff(t.Context(), &x, c.first, c.last)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("Diff of turns %d to %d: %v (-want +got):\n%s", c.first, c.last, err, diff)
		}
	}
}

func TestARewindTakesBackWhatTheSessionDidAndNothingElse(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+strings.Repeat("// far away\n", 20)+beta)
	w.commit("Begin")
	w.edit("one", "a.go", beta, gamma)
	w.write("one", "sub/new.go", delta)
	text := func(name string) string {
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	mine := strings.Replace(text("a.go"), alpha, alpha+"// by hand\n", 1)
	w.file("a.go", mine)
	x, err := w.store.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	tr := w.tracer()
	changes, err := tr.Diff(t.Context(), &x, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := tr.Backward(t.Context(), changes)
	if err != nil || patch == "" || text("a.go") != mine {
		t.Fatalf("working out the patch changes the files, or fails: %q, %v", patch, err)
	}
	err = tr.Tree.Apply(t.Context(), patch)
	if got, want := text("a.go"), strings.Replace(mine, gamma, beta, 1); err != nil || got != want {
		t.Errorf("after the rewind, %v, a.go is %q, want %q", err, got, want)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "sub", "new.go")); !os.IsNotExist(err) {
		t.Errorf("after the rewind, the new file is still there: %v", err)
	}
	if err := tr.Undo(t.Context(), patch); err != nil || text("a.go") != mine || text("sub/new.go") != delta {
		t.Errorf("after the undo, %v, a.go is %q, want %q; the new file is %q", err, text("a.go"), mine, text("sub/new.go"))
	}
	w.file("a.go", strings.Replace(mine, gamma, "// gone\n", 1))
	if patch, err := tr.Backward(t.Context(), changes); err == nil || !strings.Contains(err.Error(), "a.go") || text("sub/new.go") != delta {
		t.Errorf("a rewind of lines that have changed since: %q, %v; want an error that names a.go, and nothing done", patch, err)
	}
	changes[0].Left = 1
	if _, err := tr.Backward(t.Context(), changes); !errors.Is(err, provenance.ErrUnclear) {
		t.Errorf("a rewind of edits that are not known: %v, want ErrUnclear", err)
	}
}

func TestARewindThatIsNotClearIsRefused(t *testing.T) {
	w := newWorld(t)
	block := strings.Repeat("// the same\n", 4) + alpha + strings.Repeat("// the same\n", 4)
	w.file("a.go", block)
	w.commit("Begin")
	w.edit("one", "a.go", alpha, beta)
	twin := strings.Replace(block, alpha, beta, 1)
	w.file("a.go", gamma+twin+twin) // by hand
	x, err := w.store.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	tr := w.tracer()
	changes, err := tr.Diff(t.Context(), &x, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if patch, err := tr.Backward(t.Context(), changes); !errors.Is(err, provenance.ErrUnclear) {
		t.Errorf("Backward = %q, %v, want ErrUnclear: the lines are there twice, and not where they were", patch, err)
	}
	w.file("a.go", gamma+twin)
	if patch, err := tr.Backward(t.Context(), changes); err != nil || patch == "" {
		t.Errorf("Backward of lines that have moved = %q, %v, want a patch", patch, err)
	}
}

func TestEmptyFilesAndModesAreKept(t *testing.T) {
	w := newWorld(t)
	w.file("empty.go", "")
	w.file("run.sh", alpha)
	if err := os.Chmod(filepath.Join(w.dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.commit("Begin")
	w.edit("one", "empty.go", "", beta)
	w.call("one", "shell", map[string]any{"input": "*** Begin Patch\n*** Delete File: run.sh\n*** End Patch"}, "ok", false)
	if err := os.Remove(filepath.Join(w.dir, "run.sh")); err != nil {
		t.Fatal(err)
	}
	x, err := w.store.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	tr := w.tracer()
	changes, err := tr.Diff(t.Context(), &x, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := tr.Backward(t.Context(), changes)
	if err == nil {
		err = tr.Tree.Apply(t.Context(), patch)
	}
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(w.dir, "empty.go")); err != nil || len(text) > 0 {
		t.Errorf("after the rewind empty.go is %q, %v, want an empty file", text, err)
	}
	if info, err := os.Stat(filepath.Join(w.dir, "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
		t.Errorf("after the rewind run.sh is %v, %v, want a program", info, err)
	}
}

func TestAFileOfTheSameNameInAnotherFolderIsAnother(t *testing.T) {
	w := newWorld(t)
	w.file("main.go", alpha+beta+gamma)
	w.write("one", "cmd/pear/main.go", alpha)
	w.commit("Both")
	w.is("cmd/pear/main.go", "one")
	w.is("main.go", "- - -")
}

func TestABotThatMovesAnAgentsLines(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta+gamma)
	w.file("b.go", alpha+beta+gamma)
	w.git("add", "-A")
	w.git("-c", "user.name=mover[bot]", "-c", "user.email=2+mover[bot]@users.noreply.github.com", "commit", "-q", "-m", "Move")
	w.is("b.go", "- - -")
}

func TestTheRepositoryItselfStartsNoProgram(t *testing.T) {
	w := newWorld(t)
	w.file(".gitattributes", "*.go diff=evil filter=evil\n")
	w.write("one", "a.go", alpha+beta)
	w.commit("Begin")
	ran := filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge", "core.fsmonitor"} {
		w.git("config", name, "touch "+ran+"; cat")
	}
	w.file("a.go", alpha+beta+gamma)
	w.is("a.go", "one one -")
	if _, err := os.Lstat(ran); !os.IsNotExist(err) {
		t.Errorf("a program of the repository's settings ran: %v", err)
	}
}
