package interoptest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// writtenAnew checks, for a format that can be written: writing a session to a place
// where it was written before changes nothing and says so; one that has grown is brought
// up to date there, and is there once; a child may come after its parent; and what
// somebody else has changed is refused by name, until it is to be replaced.
func (s writes) writtenAnew(t *testing.T) {
	a := anew{s.Suite, t, memory.New(), filepath.Join(t.TempDir(), "home"), ""}
	defer a.store.Close()
	a.id = composed(t, a.store)
	a.child()
	if first := a.export(a.id, writeback.Exports{}); len(first) != 2 {
		t.Fatalf("Export() = %+v, want a session and its child", first)
	}
	a.unchanged("again", a.id)
	a.unchanged("the child after its parent", "child")

	a.grow("and now?")
	if done := a.export(a.id, writeback.Exports{}); done[0].Unchanged || done[0].Exact {
		t.Errorf("Export() of a session that has grown = %+v, want it written", done[0])
	}
	a.stands()
	a.unchanged("again after it has grown", a.id)

	a.changed()
	before := snapshot(t, a.home)
	done, err := writeback.Export(t.Context(), a.store, s.Format, a.id, a.home, writeback.Exports{})
	switch {
	case !errors.Is(err, interop.ErrChanged):
		t.Fatalf("Export() where somebody else changed it = %+v, %v, want ErrChanged", done, err)
	case !strings.Contains(err.Error(), a.home):
		t.Errorf("Export() where somebody else changed it: %v, want it named", err)
	}
	if diff := cmp.Diff(before, snapshot(t, a.home)); diff != "" {
		t.Errorf("Export() was refused, and changed (-before +after):\n%s", diff)
	}
	if done := a.export(a.id, writeback.Exports{Over: true}); done[0].Unchanged {
		t.Errorf("Export() over what somebody else changed = %+v, want it written", done[0])
	}
	a.stands()
	a.unchanged("again after it was replaced", a.id)
}

// childFirst checks that a child that was written by itself is there once after its parent
// is written to the same place: where it was, with what is new.
func (s writes) childFirst(t *testing.T) {
	a := anew{s.Suite, t, memory.New(), filepath.Join(t.TempDir(), "home"), ""}
	defer a.store.Close()
	a.id = composed(t, a.store)
	a.child()
	a.grow("and now?")
	alone := a.export("child", writeback.Exports{})
	add(t, a.store, "child", "and b.go?")
	both := a.export(a.id, writeback.Exports{})
	if len(both) != 2 || both[1].Spot != alone[0].Spot || both[1].Unchanged {
		t.Errorf("Export() of the parent = %+v, want the child brought up to date where it was, %+v", both, alone)
	}
	a.stands()
	a.unchanged("again", a.id)
	a.unchanged("the child again", "child")
}

// anew is one session and the place that it is written to.
type anew struct {
	Suite
	t     *testing.T
	store *memory.Store
	home  string
	id    skein.SessionID
}

func (a *anew) export(id skein.SessionID, o writeback.Exports) []writeback.Exported {
	a.t.Helper()
	done, err := writeback.Export(a.t.Context(), a.store, a.Format, id, a.home, o)
	if err != nil {
		a.t.Fatalf("Export(%s) = %v", id, err)
	}
	if home, err := filepath.EvalSymlinks(a.home); err == nil {
		a.home = home
	}
	return done
}

// unchanged exports a session that is already there, unchanged.
func (a *anew) unchanged(when string, id skein.SessionID) {
	a.t.Helper()
	before := snapshot(a.t, a.home)
	for _, d := range a.export(id, writeback.Exports{}) {
		if !d.Unchanged {
			a.t.Errorf("%s: Export() = %+v, want it unchanged", when, d)
		}
	}
	if diff := cmp.Diff(before, snapshot(a.t, a.home)); diff != "" {
		a.t.Errorf("%s: Export() of what has not changed changed (-before +after):\n%s", when, diff)
	}
}

// child adds a session that the other one started.
func (a *anew) child() {
	a.t.Helper()
	at := skein.At(epoch) + 7000
	evs := []skein.Event{
		skein.NewEvent(skein.KindCreated, at, skein.Created{
			Cwd: "/home/ada/pear", Project: "/home/ada/pear", Agent: "skein", Provider: "anthropic", Model: "claude-sonnet-4-5", Program: "skein",
			Parent: &skein.Parent{Session: a.id, Seq: 3, Why: skein.Child, Call: "toolu_1"},
		}),
		skein.Say(at+1000, skein.UserSays("look at a.go")),
		skein.Say(at+2000, skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Parts: []skein.Part{skein.TextPart("It is empty.")}}),
	}
	if _, err := a.store.Append(a.t.Context(), skein.Batch{Session: "child", Events: evs}); err != nil {
		a.t.Fatal(err)
	}
}

// grow adds a turn to the session.
func (a *anew) grow(words string) { add(a.t, a.store, a.id, words) }

func add(t testing.TB, s skein.Store, id skein.SessionID, words string) {
	t.Helper()
	sess, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	at := sess.Updated + 1000
	answer := skein.Message{Role: skein.RoleAssistant, Provider: sess.Provider, Model: sess.Model, Parts: []skein.Part{skein.TextPart("Answer to " + words)}}
	if _, err := skein.Add(t.Context(), s, id, skein.Say(at, skein.UserSays(words)), skein.Say(at+1000, answer)); err != nil {
		t.Fatal(err)
	}
}

// stands imports what is there: with the side files it is the same session, and
// without them its text is there once.
func (a *anew) stands() {
	a.t.Helper()
	to := memory.New()
	defer to.Close()
	if rep := a.bring(a.t, to, a.home); rep.Damaged != 0 || rep.Skipped != 0 {
		a.t.Errorf("Import of what was written anew = %+v, want no damage", rep)
	}
	for _, id := range []skein.SessionID{a.id, "child"} {
		if diff := cmp.Diff(events(a.t, a.store)[string(id)], events(a.t, to)[string(id)]); diff != "" {
			a.t.Errorf("%s as it was written anew (-was +is):\n%s", id, diff)
		}
	}
	defer a.aside()()
	alone := memory.New()
	defer alone.Close()
	a.bring(a.t, alone, a.home)
	for words, n := range map[string]int{"user text thanks": 1, "user text and now?": 1, "user text look at a.go": 1, "user text somebody else": 0} {
		if got := strings.Count("\n"+strings.Join(all(a.t, alone), "\n")+"\n", "\n"+words+"\n"); got != n {
			a.t.Errorf("%q stands in what was written anew %d times, want %d", words, got, n)
		}
	}
}

// all returns everything that is said, including in children.
func all(t testing.TB, s *memory.Store) (words []string) {
	t.Helper()
	for id := range events(t, s) {
		words = append(words, strings.Split(strings.TrimSpace(Shown(t, s, skein.SessionID(id))), "\n")...)
	}
	for i, w := range words {
		role, text, _ := strings.Cut(w, " ")
		words[i] = role + " text " + strings.Trim(text, `"`)
	}
	return words
}

// aside moves the side files away, and returns a function that restores them.
func (a *anew) aside() (back func()) {
	a.t.Helper()
	kept := map[string][]byte{}
	for _, f := range files(a.t, a.home) {
		if strings.HasSuffix(f, ".skein") {
			kept[f] = read(a.t, f)
			if err := os.Remove(f); err != nil {
				a.t.Fatal(err)
			}
		}
	}
	return func() {
		for f, data := range kept {
			write(a.t, f, data)
		}
	}
}

// changed continues the session as its program would, which does not know about
// side files.
func (a *anew) changed() {
	a.t.Helper()
	defer a.aside()()
	program := memory.New()
	defer program.Close()
	a.bring(a.t, program, a.home)
	for _, id := range roots(a.t, program) {
		add(a.t, program, id, "somebody else")
		if _, err := writeback.Sync(a.t.Context(), program, a.Format, id); err != nil {
			a.t.Fatalf("Sync(%s) = %v", id, err)
		}
	}
}

// exportedIn exports all sessions of a case, and imports them back where they came
// from: nothing is missing.
func (s Suite) exportedIn(t *testing.T, name string) {
	store := memory.New()
	defer store.Close()
	s.bring(t, store, lay(t, filepath.Join(s.Dir, name)))
	home := t.TempDir()
	for sess, err := range store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		_, err := writeback.Export(t.Context(), store, s.Format, sess.ID, home, writeback.Exports{})
		if err != nil && !errors.Is(err, skein.ErrInvalid) { // it cannot be written at all
			t.Fatalf("Export(%s) = %v", sess.ID, err)
		}
	}
	for i := range 2 {
		rep := s.bring(t, store, home)
		if rep.Events != 0 || rep.Sessions != 0 {
			t.Errorf("Import(%s) as it was exported, time %d = %+v, want nothing new", name, i+1, rep)
			t.Log(dump(t, store, home))
		}
		touch(t, home, 2)
	}
}
