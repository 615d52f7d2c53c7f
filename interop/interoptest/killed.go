package interoptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

var errKilled = errors.New("killed")

// A dying store fails its user's calls from one of its appends on, as a kill does:
// from then on only leases can be released.
type dying struct {
	skein.Store
	skein.Sources
	at   int // of its appends
	does int // 1 if this one is done, 0 if not
	n    *atomic.Int64
}

func (s dying) Unwrap() skein.Store { return s.Store }

func (s dying) dead() bool {
	n := int(s.n.Load())
	return n > s.at || n == s.at && s.does == 1
}

func (s dying) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if n := int(s.n.Add(1)); n > s.at || n == s.at && s.does == 0 {
		s.n.Store(int64(s.at + 1))
		return nil, errKilled
	}
	r, err := s.Store.Append(ctx, bs...)
	if s.dead() {
		err = errKilled
	}
	return r, err
}

func (s dying) File(ctx context.Context, format, path string) (skein.SourceFile, error) {
	if s.dead() {
		return skein.SourceFile{}, errKilled
	}
	return skein.SourcesOf(s.Store).File(ctx, format, path)
}

func (s dying) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	if s.dead() {
		return skein.Session{}, errKilled
	}
	return s.Store.Session(ctx, id)
}

func (s dying) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	if s.dead() {
		return func(yield func(skein.Record, error) bool) { yield(skein.Record{}, errKilled) }
	}
	return skein.SourcesOf(s.Store).Records(ctx, format, path, n)
}

// killed tests what becomes of a write that was killed: at each append of the store,
// and with only some of its files written.
func (b Back) killed(t *testing.T, steps []int) {
	for at := 1; ; at++ {
		for does := range 2 {
			g, was, ended := b.dies(t, steps, at, does)
			if ended {
				return
			}
			when := fmt.Sprintf("killed at append %d (done: %d)", at, does)
			halves := g.states(was)
			g.survives(when, aftermaths[(2*at+does)%len(aftermaths)])
			if at != 2 || does != 0 { // then all is written, and the store does not know it
				continue
			}
			for i := range aftermaths {
				g, _, _ := b.dies(t, steps, at, does)
				g.survives(when, aftermaths[i])
			}
			g, _, _ = b.dies(t, steps, at, does)
			g.followed(when)
			for i := range halves {
				g, was, _ := b.dies(t, steps, at, does)
				s := g.states(was)[i]
				g.lay(s.files)
				g.survives(when+" with "+s.name, aftermaths[i%len(aftermaths)])
			}
		}
	}
}

// dies returns a session whose write was killed, and what its files were before;
// ended says that it was not killed.
func (b Back) dies(t *testing.T, steps []int, at, does int) (g goes, was map[string][]byte, ended bool) {
	t.Helper()
	g = b.begun(t, steps)
	was = g.files()
	done, err := writeback.Sync(t.Context(), dying{g.s, skein.SourcesOf(g.s), at, does, new(atomic.Int64)}, g.Format, g.Session)
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatalf("Sync that dies at append %d = %+v, %v, want that it is killed", at, done, err)
	}
	return g, was, err == nil
}

// An aftermath is what is done after a kill, before the next write.
type aftermath struct {
	name string
	does func(g goes)
}

var aftermaths = []aftermath{
	{"sync", func(goes) {}},
	{"import", func(g goes) { g.bring(g.s) }},
	{"two imports", func(g goes) { g.bring(g.s); g.bring(g.s) }},
}

// begun returns a session that was written back before, and has something to be written.
func (b Back) begun(t *testing.T, steps []int) goes {
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	g := goes{b, t, s, b.Lay(t)}
	g.bring(s)
	start := g.last()
	for i, n := range steps[:len(steps)/2] {
		if n < 70 || n < 80 && b.Sums {
			g.step(i, n, start)
		}
	}
	g.add(skein.Say(g.time(500), skein.UserSays("the middle")))
	if done, err := writeback.Sync(t.Context(), s, b.Format, b.Session); err != nil {
		t.Fatalf("Sync = %+v, %v", done, err)
	}
	for i, n := range steps[len(steps)/2:] {
		if n < 70 {
			g.step(600+i, n, start)
		}
	}
	g.add(skein.Say(g.time(1000), skein.UserSays("the end")))
	return g
}

// survives checks that everything is correct in the end.
func (g goes) survives(when string, a aftermath) {
	g.t.Helper()
	when += ", then " + a.name
	want := Shown(g.t, g.s, g.Session)
	a.does(g)
	if got := Shown(g.t, g.s, g.Session); got != want {
		g.t.Fatalf("%s: a model is shown\n%swant\n%s", when, got, want)
	}
	g.alone(when)
	if done, err := writeback.Sync(g.t.Context(), g.s, g.Format, g.Session); err != nil {
		g.t.Fatalf("%s: Sync = %+v, %v", when, done, err)
	}
	if got := Shown(g.t, g.s, g.Session); got != want {
		g.t.Fatalf("%s, sync: a model is shown\n%swant\n%s", when, got, want)
	}
	g.alone(when)
	g.same(when)
	if done, err := writeback.Sync(g.t.Context(), g.s, g.Format, g.Session); err != nil || done.Events != 0 {
		g.t.Fatalf("%s: Sync again = %+v, %v, want nothing new", when, done, err)
	}
	if rep := g.bring(g.s); rep.Events != 0 || rep.Damaged != 0 {
		g.t.Fatalf("%s: Import in the end = %+v, want nothing new", when, rep)
	}
	g.add(skein.Say(g.time(2000), skein.UserSays("one more")))
	if done, err := writeback.Sync(g.t.Context(), g.s, g.Format, g.Session); err != nil || done.Events != 1 {
		g.t.Fatalf("%s: Sync of one more = %+v, %v, want it written", when, done, err)
	}
	g.same(when + ", one more")
	if g.Check != nil {
		g.Check(g.t, g.path)
	}
}

// followed checks that what the program itself appends after what was written is
// imported as its own, in the same session.
func (g goes) followed(when string) {
	g.t.Helper()
	program := g
	program.s = memory.New()
	defer program.s.Close()
	program.bring(program.s)
	for program.last() < g.last()+100 { // otherwise its lines may have the IDs of ours
		program.add(slices.Repeat([]skein.Event{skein.NewEvent(skein.KindNoted, g.time(1400), skein.Noted{Name: "pads"})}, 100)...)
	}
	program.add(skein.Say(g.time(1500), skein.UserSays("from the program")))
	if done, err := writeback.Sync(g.t.Context(), program.s, g.Format, g.Session); err != nil || done.Events != 1 {
		g.t.Fatalf("%s: Sync of another store = %+v, %v, want 1 event", when, done, err)
	}
	g.bring(g.s)
	g.alone(when + ", its program went on, import")
	g.same(when + ", its program went on, import")
	g.survives(when+", its program went on", aftermaths[1])
}

// alone checks that there is only one session.
func (g goes) alone(when string) {
	g.t.Helper()
	var ids []string
	for s, err := range g.s.Sessions(g.t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			g.t.Fatal(err)
		}
		ids = append(ids, string(s.ID))
	}
	if len(ids) != 1 {
		g.t.Fatalf("%s: sessions %q, want one", when, ids)
	}
}

// files returns the files of the program.
func (g goes) files() map[string][]byte {
	g.t.Helper()
	all := map[string][]byte{}
	root := g.path
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		root = filepath.Dir(root)
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all[path], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	return all
}

// A halfway is a possible state after a write was killed; nil means no file.
type halfway struct {
	name  string
	files map[string][]byte
}

// states returns the possible states between was and now: some files written and
// the others not, and a file that is appended to cut off. A database is written as a
// whole or not at all, and first.
func (g goes) states(was map[string][]byte) (all []halfway) {
	g.t.Helper()
	now := g.files()
	var changed []string
	base := false
	for path, data := range now {
		switch old, ok := was[path]; {
		case strings.Contains(filepath.Base(path), ".db"), strings.Contains(filepath.Base(path), ".sqlite"):
			base = true
		case strings.HasSuffix(path, ".lock"):
		case !ok || !bytes.Equal(old, data):
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	without := func(name string, paths []string) {
		h := halfway{name: name, files: map[string][]byte{}}
		for _, path := range paths {
			h.files[path] = was[path]
		}
		all = append(all, h)
	}
	if len(changed) > 0 && base {
		without("the database alone", changed)
	}
	for _, n := range slices.Compact([]int{1, len(changed) / 2, len(changed) - 1}) {
		if n > 0 && n < len(changed) {
			without(fmt.Sprintf("the first %d files", n), changed[n:])
			without(fmt.Sprintf("the last %d files", n), changed[:n])
		}
	}
	if len(changed) != 1 || base {
		return all
	}
	old := was[changed[0]]
	rest, appended := bytes.CutPrefix(now[changed[0]], old)
	for _, n := range []int{1, len(rest) / 3, bytes.IndexByte(rest, '\n') + 1, len(rest) - 1} {
		if appended && old != nil {
			all = append(all, halfway{fmt.Sprintf("%d bytes of %d", n, len(rest)), map[string][]byte{changed[0]: slices.Concat(old, rest[:n])}})
		}
	}
	return all
}

// lay writes the files.
func (g goes) lay(files map[string][]byte) {
	g.t.Helper()
	for path, data := range files {
		var err error
		if data == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, data, 0o600)
		}
		if err != nil {
			g.t.Fatal(err)
		}
	}
}
