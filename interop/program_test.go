package interop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
)

// lockable is the toy format with a lock, which is held while locked is true.
func lockable(locked *bool, calls *[]string) interop.Format {
	f := toy()
	f.Below = func(path string) string {
		if i := strings.LastIndex(path, "/talks/"); i >= 0 {
			return path[i+1:]
		}
		return ""
	}
	f.Lock = func(_ context.Context, path, name string) (func() error, error) {
		*calls = append(*calls, "lock "+filepath.Base(path)+name)
		if *locked {
			return nil, fmt.Errorf("%w: by toy", skein.ErrLocked)
		}
		return func() error { *calls = append(*calls, "unlock"); return nil }, nil
	}
	return f
}

func TestSyncHoldsTheProgramsLockWhileItWrites(t *testing.T) {
	p := newPlace(t)
	locked, calls := true, []string{}
	f := lockable(&locked, &calls)
	p.write("talks/a.toy", "a1")
	p.bring(interop.Options{})
	if _, err := writeback.Sync(t.Context(), p.store, f, "a"); err != nil || len(calls) > 0 {
		t.Errorf("Sync with nothing new = %v and calls %q, want no lock taken", err, calls)
	}
	p.add("a", asked("new"))
	if _, err := writeback.Sync(t.Context(), p.store, f, "a"); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Sync while the program has it open = %v, want ErrLocked", err)
	}
	p.exact("talks/a.toy")
	locked, calls = false, nil
	if done, err := writeback.Sync(t.Context(), p.store, f, "a"); err != nil || done.Events != 1 || !slices.Equal(calls, []string{"lock a.toy", "unlock"}) {
		t.Errorf("Sync = %+v, %v with calls %q, want an event under the lock", done, err, calls)
	}
	was, err := os.ReadFile(p.path("talks/a.toy"))
	if err != nil || !strings.Contains(string(was), "new") {
		t.Errorf("after Sync the file has %q (%v), want what is new", was, err)
	}
}

func TestASessionThatWasExportedAndReadSinceIsSynced(t *testing.T) {
	p := newPlace(t)
	p.add("mine", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("hello"))
	home, _ := p.export(toy(), "mine")
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writeback.Sync(t.Context(), p.store, toy(), "mine"); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Sync of what was not read = %v, want ErrInvalid", err)
	}
	p.dir = home
	p.again()
	p.add("mine", asked("more"))
	done, err := writeback.Sync(t.Context(), p.store, toy(), "mine")
	if err != nil || done.Events != 1 || done.Path != filepath.Join(home, "talks", "mine.toy") {
		t.Errorf("Sync = %+v, %v, want one event", done, err)
	}
	if rep := p.again(); rep.Events != 0 {
		t.Errorf("Import after Sync = %+v, want nothing new", rep)
	}
	p.wants("mine", "created hello more")
}

func TestHomeOfIsWhereBelowBegins(t *testing.T) {
	h := interop.Home{Dir: filepath.FromSlash("/home/ann"), Env: func(string) string { return "" }}
	for name, c := range map[string]struct {
		place string
		below func(string) string
		want  string
	}{
		"no Below: the place":                {"/home/ann/.toy", nil, "/home/ann/.toy"},
		"a folder in the home":               {"/home/ann/.toy/talks", func(p string) string { return after(p, "/talks/") }, "/home/ann/.toy"},
		"a file in the home":                 {"/home/ann/.toy/toys.db", func(p string) string { return filepath.Base(p) }, "/home/ann/.toy"},
		"a place that Below does not know":   {"/home/ann/.toy/x", func(string) string { return "" }, ""},
		"a Below that is no end of the path": {"/home/ann/.toy/x", func(string) string { return "elsewhere" }, ""},
	} {
		f := interop.Format{Below: c.below, Places: func(interop.Home) []string { return []string{filepath.FromSlash(c.place)} }}
		if got := filepath.ToSlash(interop.HomeOf(f, h)); got != c.want {
			t.Errorf("%s: HomeOf = %q, want %q", name, got, c.want)
		}
	}
	none := interop.Format{Places: func(interop.Home) []string { return nil }}
	if got := interop.HomeOf(none, h); got != "" {
		t.Errorf("HomeOf without a place = %q, want none", got)
	}
}

// after returns the part of a path from the folder in on.
func after(path, in string) string {
	if i := strings.LastIndex(path, in); i >= 0 {
		return path[i+1:]
	}
	return ""
}

func TestAForkIsExportedWithWhatItShowsOfItsParent(t *testing.T) {
	for _, f := range everyToy {
		p := newPlace(t)
		p.add("mine", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("one"), asked("two"), asked("three"))
		p.add("branch", skein.NewEvent(skein.KindCreated, 1, skein.Created{Parent: &skein.Parent{Session: "mine", Seq: 3, Why: skein.Fork}}), asked("other"))
		home, done := p.export(f, "branch")
		if len(done) != 1 {
			t.Errorf("Export(%s) of a fork = %+v, want it alone", f.Name, done)
		}
		if err := os.Remove(done[0].Side); err != nil {
			t.Fatal(err)
		}
		q := elsewhere(t, home)
		var id string
		for _, s := range q.sessions() {
			id = s
		}
		if got := q.tell(id); !strings.HasSuffix(got, "one two other") {
			t.Errorf("%s: a fork that was exported tells %q, want what it shows", f.Name, got)
		}
	}
}
