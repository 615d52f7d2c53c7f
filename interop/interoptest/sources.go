package interoptest

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/memory"
)

// A rootsTest is several versions of a case, each in a folder of its own, and what each
// says if it is imported alone.
type rootsTest struct {
	Suite
	t     *testing.T
	roots map[string]string // by what is wrong with it
	words map[string][]string
}

// amongOthers checks: beside a copy that has gone another way, files that are torn, and
// files that another session has replaced, in whatever order they come, everything that
// each says alone is in the store, what is wrong is named with its path, and the next
// import finds nothing new.
func (s Suite) amongOthers(t *testing.T, name string) {
	from := filepath.Join(s.Dir, name)
	x := rootsTest{s, t, map[string]string{"good": lay(t, from), "torn": lay(t, from)}, map[string][]string{}}
	x.tear(x.roots["torn"])
	apart := memory.New()
	defer apart.Close()
	s.bring(t, apart, x.roots["good"])
	if texts := plainTexts(said(t, apart)); len(texts) > 0 {
		other := lay(t, from)
		if otherwise(t, other, texts[len(texts)/2]) {
			x.roots["diverged"] = other
		}
	}
	for _, root := range x.roots {
		x.alone(root)
	}
	kinds := slices.Sorted(maps.Keys(x.roots))
	backward := slices.Clone(kinds)
	slices.Reverse(backward)
	for _, order := range [][]string{kinds, backward} {
		x.inOrder(order, false)
	}
	x.inOrder(kinds, true)
	x.replaced(name)
}

// tear cuts each file off.
func (x *rootsTest) tear(root string) {
	for _, f := range files(x.t, root) {
		data := read(x.t, f)
		write(x.t, f, data[:len(data)*2/3])
	}
	touch(x.t, root, 2)
}

// alone notes what a root says.
func (x *rootsTest) alone(root string) {
	store := memory.New()
	defer store.Close()
	x.bring(x.t, store, root)
	x.words[root] = everSaid(x.t, store)
}

// inOrder imports the roots one after the other: each at once, or file by file, so that
// children come before their parents.
func (x *rootsTest) inOrder(order []string, byFile bool) {
	x.t.Helper()
	store := memory.New()
	defer store.Close()
	var paths []string
	for _, kind := range order {
		paths = append(paths, x.roots[kind])
	}
	all := paths
	if byFile {
		all = nil
		for _, root := range paths {
			all = append(all, files(x.t, root)...)
		}
		slices.Reverse(all)
		all = append(all, paths...)
	}
	for _, path := range all {
		x.named(x.bring(x.t, store, path))
	}
	for _, root := range paths {
		if lost := missing(x.words[root], everSaid(x.t, store)); len(lost) > 0 {
			x.t.Errorf("imported in the order %v (file by file: %t), of %s these are missing: %q", order, byFile, root, lost)
		}
	}
	x.stands(store, paths)
}

// named checks that whatever failed is named by a path.
func (x *rootsTest) named(rep interop.Report) {
	x.t.Helper()
	if rep.Failed > 0 && rep.Err == nil || rep.Failed > len(rep.Skips) {
		x.t.Errorf("Import() = %+v, want each of the %d that failed named", rep, rep.Failed)
	}
	for _, s := range rep.Skips {
		if s.Why == "" || !slices.ContainsFunc(slices.Collect(maps.Values(x.roots)), func(root string) bool { return strings.HasPrefix(s.Path, root) }) {
			x.t.Errorf("Import() names %+v, want a path of its own and the reason", s)
		}
	}
}

// stands checks that a further import of the roots changes nothing.
func (x *rootsTest) stands(store *memory.Store, roots []string) {
	x.t.Helper()
	before := events(x.t, store)
	for _, root := range roots {
		x.named(x.bring(x.t, store, root))
	}
	if diff := cmp.Diff(before, events(x.t, store)); diff != "" {
		x.t.Errorf("imported once more (-before +after):\n%s", diff)
	}
}

// replaced puts the files of another case in the place of those with the same ending:
// what they say is imported.
func (x *rootsTest) replaced(name string) {
	x.t.Helper()
	root := lay(x.t, filepath.Join(x.Dir, name))
	x.roots["replaced"] = root
	store := memory.New()
	defer store.Close()
	x.bring(x.t, store, root)
	for _, other := range x.cases(x.t) {
		if other == name {
			continue
		}
		with := map[string]string{}
		for _, f := range files(x.t, filepath.Join(x.Dir, other)) {
			with[filepath.Ext(f)] = f
		}
		for _, f := range files(x.t, root) {
			if from := with[filepath.Ext(f)]; from != "" {
				write(x.t, f, read(x.t, from))
			} else if err := os.Remove(f); err != nil {
				x.t.Fatal(err)
			}
		}
		break
	}
	touch(x.t, root, 3)
	x.alone(root)
	x.named(x.bring(x.t, store, root))
	if lost := missing(x.words[root], everSaid(x.t, store)); len(lost) > 0 {
		x.t.Errorf("after its files were replaced, these are missing: %q", lost)
	}
	x.stands(store, []string{root})
}

// everSaid returns the texts of all sessions, each once, whatever became of them.
func everSaid(t *testing.T, s *memory.Store) (all []string) {
	t.Helper()
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range s.Events(t.Context(), sess.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			payload := e.Payload
			if a, err := skein.Decode[skein.Amended](e); e.Kind == skein.KindAmended && err == nil {
				payload = a.Payload
			} else if e.Kind != skein.KindSaid {
				continue
			}
			m, err := skein.Decode[skein.Message](skein.Event{Kind: skein.KindSaid, Payload: payload})
			if err != nil {
				continue // it amends something else, or withdraws it
			}
			for _, p := range m.Parts {
				switch {
				case p.Call != nil:
					all = append(all, "call "+string(p.Call.Input))
				case p.Result != nil:
					all = append(all, "result "+string(p.Result.Text))
				default:
					all = append(all, string(p.Text))
				}
			}
		}
	}
	return once(all)
}
