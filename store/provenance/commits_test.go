package provenance_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/provenance"
)

// agree fails the test unless the commits of each session are those of which it has a
// share, of all that there are.
func (w *world) agree() {
	w.Helper()
	tr := w.tracer()
	want := map[skein.SessionID][]string{}
	for hash := range strings.Lines(w.git("rev-list", "--all", "--no-merges", "--exclude=refs/notes/*", "--reverse")) {
		r, err := tr.Commit(w.Context(), strings.TrimSpace(hash))
		if err != nil {
			w.Fatal(err)
		}
		for _, s := range r.Shares {
			want[s.Session] = append(want[s.Session], r.Commit.Hash)
		}
	}
	if len(want) == 0 {
		w.Error("no session has a share in a commit: there is nothing to compare")
	}
	for x, err := range w.store.Sessions(w.Context(), skein.Filter{}) {
		if err != nil {
			w.Fatal(err)
		}
		of, err := tr.CommitsOf(w.Context(), &x)
		if err != nil {
			w.Fatal(err)
		}
		for _, hash := range want[x.ID] {
			if !slices.Contains(of, hash) {
				w.Errorf("session %s has a share in %s, which is not among its commits:\n%s", x.ID, w.git("log", "-1", "--format=%h %s", hash), strings.Join(of, "\n"))
			}
		}
	}
}

func TestTheCommitsOfASessionAreThoseOfWhichItHasAShare(t *testing.T) {
	for name, happens := range map[string]func(w *world){
		"lines that are moved, and the file renamed": func(w *world) {
			w.write("one", "a.go", alpha+beta+gamma+delta)
			w.commit("Begin")
			w.file("a.go", "")
			w.file("b.go", alpha+beta+gamma+delta)
			w.commit("Move")
			w.git("mv", "b.go", "c.go")
			w.edit("two", "c.go", beta, "// another line of it\n")
			w.commit("Rename")
		},
		"lines in a file that the session did not know": func(w *world) {
			w.file("README", "pear\n")
			w.commit("Begin")
			w.call("one", "write", map[string]any{"path": filepath.Join(w.dir, "skills", "a.go"), "content": alpha + beta + gamma + delta}, "ok", false)
			w.file("plugins/pear/skills/a.go", alpha+beta+gamma+delta)
			w.commit("Elsewhere")
		},
		"a commit that a rebase gave another hash": func(w *world) {
			w.file("README", "pear\n")
			w.commit("Begin")
			w.git("checkout", "-q", "-b", "work")
			w.file("go.sum", "example.com/pear v1.0.0 h1:abc\n")
			hash := w.commit("Add the module")
			w.now = w.now.Add(-119e9) // it is told at once
			w.call("one", "shell", map[string]any{"command": "go mod tidy && git commit -am 'Add the module'"}, "[work 0000000] Add the module\n 1 file changed", false)
			w.git("checkout", "-q", "main")
			w.file("README", "pear\nand plum\n")
			w.commit("Meanwhile")
			w.git("cherry-pick", hash)
			w.git("branch", "-q", "-D", "work")
		},
		"a note": func(w *world) {
			w.call("one", "read", map[string]any{"path": "a.go"}, "", false)
			w.file("a.go", alpha+beta)
			hash := w.commit("Begin")
			w.git("notes", "--ref=refs/notes/ai", "add", "-m", "a.go\n  s_c9883b05a2487d::t_9f8e7d6c5b4a32 2\n---\n"+`{"schema_version":"authorship/3.0.0","base_commit_sha":"x","prompts":{},"sessions":{"s_c9883b05a2487d":{"agent_id":{"tool":"claude","id":"one","model":"m"}}}}`, hash)
		},
		"a branch of a remote": func(w *world) {
			w.file("README", "pear\n")
			w.commit("Begin")
			w.write("one", "a.go", alpha+beta)
			hash := w.commit("One")
			w.git("update-ref", "refs/remotes/origin/work", hash)
			w.git("reset", "-q", "--hard", "HEAD~1")
		},
		"a squash": func(w *world) {
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
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			happens(w)
			w.agree()
		})
	}
}

func TestWhatIsStagedHasItsSessions(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha+beta) // before there is a commit
	w.git("add", "a.go")
	staged := func(want ...provenance.CommitShare) {
		t.Helper()
		r, err := w.tracer().Staged(t.Context())
		if err != nil || !slices.Equal(r.Shares, want) {
			t.Errorf("Staged has the shares %+v, %v; want %+v", r, err, want)
		}
	}
	staged(provenance.CommitShare{Session: "one", Lines: 2})
	w.git("commit", "-q", "-m", "Begin")
	staged()
	w.write("two", "b.go", gamma)
	w.git("add", "b.go")
	w.file("c.go", delta)
	w.git("add", "c.go")
	staged(provenance.CommitShare{Session: "two", Lines: 1})
}

func TestAFileHasItsHistory(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha)
	w.call("one", "write", map[string]any{"path": filepath.Join(w.dir, "a.go"), "content": "failed"}, "no", true)
	w.call("one", "write", map[string]any{"path": filepath.Join(filepath.Dir(w.dir), "other", "a.go"), "content": beta}, "ok", false)
	w.call("two", "shell", map[string]any{"command": "git mv a.go sub/b.go", "workdir": w.dir}, "", false)
	w.call("two", "edit", map[string]any{"file_path": "sub/b.go", "old_string": alpha, "new_string": beta}, "ok", false)
	w.call("three", "write", map[string]any{"path": filepath.Join(w.dir, "b.go"), "content": gamma}, "ok", false)
	session := func(id skein.SessionID) *skein.Session {
		x, err := w.store.Session(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return &x
	}
	for _, file := range []string{"sub/b.go", filepath.Join(w.dir, "sub", "b.go")} {
		name, all, err := provenance.History(t.Context(), w.store, session("three"), file)
		var got []string
		for _, e := range all {
			got = append(got, string(e.Session)+" "+e.Path+" "+e.From)
		}
		if want := []string{"two sub/b.go ", "two sub/b.go a.go", "one a.go "}; err != nil || name != "sub/b.go" || !slices.Equal(got, want) {
			t.Errorf("History(%s) = %q, %q, %v; want %q", file, name, got, err, want)
		}
	}
	all, err := provenance.Changes(t.Context(), w.store, session("one"))
	if err != nil || len(all) != 2 || all[0].Path != "a.go" || !strings.HasSuffix(all[1].Path, "/other/a.go") {
		t.Errorf("Changes of one are %+v, %v; want that of a.go, and the one elsewhere", all, err)
	}
}

func TestWhatWasTakenBackIsNotTakenBackAgain(t *testing.T) {
	w := newWorld(t)
	w.file("a.go", alpha+beta)
	w.commit("Begin")
	turn := func(say string) {
		t.Helper()
		if _, err := skein.Add(t.Context(), w.store, "one", skein.Say(skein.At(w.now), skein.UserSays(say))); err != nil {
			t.Fatal(err)
		}
	}
	w.edit("one", "a.go", alpha, gamma) // turn 1
	turn("two")
	w.edit("one", "a.go", gamma, delta)
	x, err := w.store.Session(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	second := x.Last
	if _, err := skein.Add(t.Context(), w.store, "one", skein.NewEvent(skein.KindRewound, skein.At(w.now), skein.Rewound{To: second - 3})); err != nil {
		t.Fatal(err)
	}
	w.file("a.go", gamma+beta) // taken back
	turn("three")
	w.edit("one", "a.go", gamma, gamma+delta)
	if x, err = w.store.Session(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	// A turn that was taken back keeps its number, and the one after it has the next.
	all, err := provenance.Changes(t.Context(), w.store, &x)
	if err != nil || len(all) != 3 || all[0].Turn != 1 || all[1].Turn != 2 || all[2].Turn != 3 {
		t.Fatalf("Changes are %+v, %v; want those of the turns 1, 2 and 3", all, err)
	}
	entries, err := w.store.Newest(t.Context(), "one", 1, 0)
	if err != nil || len(entries) != 1 || entries[0].Turn != 3 {
		t.Fatalf("the last message is %+v, %v; want turn 3", entries, err)
	}
	tr := w.tracer()
	changes, err := tr.Diff(t.Context(), &x, 1, 0, provenance.TakenBack{Turn: 2, Last: second})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := tr.Backward(t.Context(), changes)
	if err != nil || !strings.Contains(patch, "-"+gamma) || !strings.Contains(patch, "-"+delta) || !strings.Contains(patch, "+"+alpha) {
		t.Errorf("the patch back to before turn 1 is %s, %v", patch, err)
	}
	if changes, err = tr.Diff(t.Context(), &x, 3, 0, provenance.TakenBack{Turn: 2, Last: second}); err != nil || len(changes) != 1 || changes[0].Was.Text != gamma+beta {
		t.Errorf("what turn 3 changed is %+v, %v", changes, err)
	}
}
