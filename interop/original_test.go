package interop_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
)

// TestTheFileThatWasMadeFirstIsTheOriginalInWhateverOrderTheyCome imports files
// one by one in each order, all at once, and some before the others.
func TestTheFileThatWasMadeFirstIsTheOriginalInWhateverOrderTheyCome(t *testing.T) {
	for name, c := range map[string]struct {
		files [][]string // name, lines; the oldest first
		want  map[string]string
	}{
		"both went on": {
			[][]string{{"a", "a1", "a2", "a3"}, {"b", "a1", "a2", "b1"}},
			map[string]string{"a": "created a1 a2 a3", "b": "created a1 a2 fork(a@3) b1"},
		},
		"the original did not go on": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "a2", "b1"}},
			map[string]string{"a": "created a1 a2", "b": "created a1 a2 fork(a@3) b1"},
		},
		"the fork did not go on": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "a2"}},
			map[string]string{"a": "created a1 a2"},
		},
		"forks of forks": {
			[][]string{{"a", "a1", "a2"}, {"b", "a1", "b1", "b2"}, {"c", "a1", "b1", "c1"}},
			map[string]string{"a": "created a1 a2", "b": "created a1 fork(a@2) b1 b2", "c": "created a1 fork(a@2) b1 fork(b@4) c1"},
		},
		"with children": {
			[][]string{{"a", "a1", "k1/k", "a2"}, {"b", "a1", "k1/k", "b1", "k2/l"}},
			map[string]string{"a": "created a1 a2", "k": "child(a@2) k1", "b": "created a1 fork(a@2) b1", "l": "child(b@4) k2"},
		},
		"with what floats": {
			[][]string{{"a", "~x", "a1", "a2"}, {"b", "~y", "a1", "~z", "a2", "b1"}},
			map[string]string{"a": "created ~x a1 a2", "b": "created ~x a1 a2 fork(a@4) ~y ~z b1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all []string
			for _, f := range c.files {
				all = append(all, f[0]+".toy")
			}
			orders := [][][]string{{all}}
			for _, o := range permutations(all) {
				var one [][]string
				for _, f := range o {
					one = append(one, []string{f})
				}
				orders = append(orders, one, [][]string{o[:1], all})
			}
			for _, order := range orders {
				p := newPlace(t)
				for _, f := range c.files {
					p.write(f[0]+".toy", f[1:]...)
				}
				for _, files := range order {
					p.names(interop.Options{}, slices.Clone(files)...)
				}
				p.bring(interop.Options{})
				for id, want := range c.want {
					if got := p.tell(id); got != want {
						t.Errorf("in the order %v: events of %s: %s, want %s", order, id, got, want)
					}
				}
				if got := p.sessions(); len(got) != len(c.want) {
					t.Errorf("in the order %v: sessions %q, want %d", order, got, len(c.want))
				}
				for _, f := range all {
					p.exact(f)
				}
				if rep := p.bring(interop.Options{}); rep.Events != 0 || rep.Sessions != 0 || rep.Removed != 0 {
					t.Errorf("in the order %v: the next import = %+v, want nothing new", order, rep)
				}
			}
		})
	}
}

func permutations(of []string) (all [][]string) {
	if len(of) < 2 {
		return [][]string{slices.Clone(of)}
	}
	for i := range of {
		rest := slices.Delete(slices.Clone(of), i, i+1)
		for _, p := range permutations(rest) {
			all = append(all, append([]string{of[i]}, p...))
		}
	}
	return all
}

// A fork of which something would be lost if it were read again stays unchanged: then
// the original becomes the fork.
func TestAForkThatHasMoreThanItsFileStaysWhatItIs(t *testing.T) {
	ctx := context.Background()
	for name, do := range map[string]func(p *place){
		"a prompt": func(p *place) { p.add("b", asked("here")) },
		"a title": func(p *place) {
			p.add("b", skein.NewEvent(skein.KindTitled, 9, skein.Titled{Title: "mine", By: skein.ByPerson}))
		},
		"another file":       func(p *place) { p.write("b.toy", "a1", "a2", "other") },
		"no file":            func(p *place) { p.move("b.toy", "b.gone") },
		"a place in the bin": func(p *place) { _ = skein.LifecycleOf(p.store).Bin(ctx, "b") },
		"somebody who works on it": func(p *place) {
			if _, err := skein.LeasesOf(p.store).Acquire(ctx, "b", skein.LeaseRequest{Program: "test"}); err != nil {
				p.Fatal(err)
			}
		},
		"a fork made here": func(p *place) {
			_, err := skein.Add(ctx, p.store, "c", skein.NewEvent(skein.KindCreated, 9, skein.Created{Parent: &skein.Parent{Session: "b", Seq: 4, Why: skein.Fork}}))
			if err != nil {
				p.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("a.toy", "a1", "a2", "a3")
			p.write("b.toy", "a1", "a2", "b1", "l1/l")
			p.names(interop.Options{}, "b.toy")
			do(p)
			was := p.tell("b")
			p.names(interop.Options{}, "a.toy")
			if got := p.tell("b"); got != was {
				t.Errorf("events of b: %s, want what it had: %s", got, was)
			}
			p.wants("l", "child(b@4) l1")
			p.wants("a", "created a1 a2 fork(b@3) a3")
		})
	}
}

// theWrongWayRound returns a place with the fork b and the original a swapped, as earlier
// versions left them: a became a fork of b, and c is one of a.
func theWrongWayRound(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.write("a.toy", "a1", "k1/k", "a2", "a3")
	p.write("b.toy", "a1", "k1/k", "a2", "b1", "l1/l")
	p.write("c.toy", "a1", "k1/k", "a2", "a3", "c1")
	p.names(interop.Options{}, "b.toy")
	lease, err := skein.LeasesOf(p.store).Acquire(t.Context(), "b", skein.LeaseRequest{Program: "test"}) // so it stays unchanged
	if err != nil {
		t.Fatal(err)
	}
	p.names(interop.Options{}, "a.toy")
	if err := skein.LeasesOf(p.store).Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	p.wants("a", "created a1 a2 fork(b@3) a3")
	p.names(interop.Options{}, "c.toy")
	return p
}

// A store in which the original is the fork of its copy, as earlier versions left
// them, is repaired when the user names the files, or imports them again.
func TestAnOriginalThatIsTheForkOfItsCopyIsTurned(t *testing.T) {
	for name, ask := range map[string]func(p *place){
		"named": func(p *place) { p.names(interop.Options{}, "a.toy", "b.toy") },
		"alone": func(p *place) { p.names(interop.Options{}, "a.toy") },
		"again": func(p *place) { p.bring(interop.Options{Again: true}) },
		"went on": func(p *place) {
			was := p.hour.Add(-2 * time.Hour) // a was written before b and c
			p.write("a.toy", "a1", "k1/k", "a2", "a3", "a4")
			if err := os.Chtimes(p.path("a.toy"), was, was); err != nil {
				p.Fatal(err)
			}
			p.names(interop.Options{}, "a.toy")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := theWrongWayRound(t)
			if rep := p.bring(interop.Options{}); rep.Events != 0 {
				t.Errorf("an import that names nothing = %+v, want nothing new", rep)
			}
			ask(p)
			more := ""
			if name == "went on" {
				more = " a4"
			}
			p.wants("a", "created a1 a2 a3"+more)
			p.wants("b", "created a1 a2 fork(a@3) b1")
			p.wants("c", "created a1 a2 a3 fork(a@4) c1")
			p.wants("k", "child(a@2) k1")
			p.wants("l", "child(b@5) l1")
			for _, f := range []string{"a.toy", "b.toy", "c.toy"} {
				p.exact(f)
			}
			if got := p.sessions(); len(got) != 5 {
				t.Errorf("sessions %q, want five", got)
			}
			if rep := p.names(interop.Options{}, "a.toy", "b.toy", "c.toy"); rep.Events != 0 || rep.Sessions != 0 {
				t.Errorf("the next import = %+v, want nothing new", rep)
			}
		})
	}
}

// If somebody adds something at any moment until a fork is taken out, it stays unchanged.
func TestAForkThatSomebodyGoesOnWithMeanwhileStays(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2", "a3")
	p.write("b.toy", "a1", "a2", "b1", "l1/l")
	p.names(interop.Options{}, "b.toy")
	late := &lateSayer{Store: p.store, Lifecycle: skein.LifecycleOf(p.store), say: func() { p.add("b", asked("here")) }}
	if _, err := importer.Import(context.Background(), late, []interop.Format{toy()}, []string{p.path("a.toy")}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	p.bring(interop.Options{})
	if got := p.tell("b"); !strings.Contains(got, "here") {
		t.Errorf("events of b: %s, want what was said while a was read", got)
	}
	p.wants("l", "child(b@4) l1")
}

// A lateSayer is a store in which something is said right before the first deletion.
type lateSayer struct {
	skein.Store
	skein.Lifecycle
	say func()
}

func (l *lateSayer) Unwrap() skein.Store { return l.Store }

func (l *lateSayer) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (skein.Deleted, error) {
	if l.say != nil {
		l.say()
		l.say = nil
	}
	return skein.LifecycleOf(l.Store).Delete(ctx, id, d)
}

// What a person purged is not restored when a copy of it is read again.
func TestWhatWasDestroyedStaysSoWhateverIsReadAgain(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "k1/k", "a2")
	p.write("b.toy", "a1", "k1/k", "a2", "b1", "k2/l")
	p.bring(interop.Options{})
	for _, id := range []skein.SessionID{"k", "a"} {
		if _, err := skein.LifecycleOf(p.store).Delete(context.Background(), id, skein.Deletion{}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		p.bring(interop.Options{})
		p.names(interop.Options{}, "a.toy")
		if got := p.sessions(); slices.Contains(got, "a") || slices.Contains(got, "k") || !slices.Contains(got, "b") {
			t.Fatalf("sessions %q, want b and l", got)
		}
		if got := p.tell("b"); !strings.Contains(got, "a1") || !strings.Contains(got, "b1") {
			t.Errorf("events of b: %s, want those of its file", got)
		}
	}
}

// After a kill between any two steps, the next import completes the rest.
func TestAnImportThatIsStoppedWhileAForkIsReadAgainLosesNothing(t *testing.T) {
	for n := 1; ; n++ {
		p := newPlace(t)
		p.write("a.toy", "a1", "k1/k", "a2", "a3")
		p.write("b.toy", "a1", "k1/k", "a2", "b1", "k2/l")
		p.names(interop.Options{}, "b.toy")
		f := &fault{Store: p.store, Leases: skein.LeasesOf(p.store), Lifecycle: skein.LifecycleOf(p.store), left: n}
		_, err := importer.Import(context.Background(), f, []interop.Format{toy()}, []string{p.path("a.toy")}, interop.Options{})
		for range 2 {
			p.bring(interop.Options{})
		}
		p.wants("a", "created a1 a2 a3")
		p.wants("b", "created a1 a2 fork(a@3) b1")
		p.wants("k", "child(a@2) k1")
		p.wants("l", "child(b@5) k2")
		if p.Failed() {
			t.Fatalf("stopped before write %d", n)
		}
		if err == nil && f.left > 0 {
			if n < 4 {
				t.Errorf("an import that reads a fork again writes %d times, want more", n-1)
			}
			return
		}
	}
}

// A kill between any two steps of a swap loses nothing either, and the next import
// of the files completes it.
func TestATurnThatIsStoppedLosesNothing(t *testing.T) {
	for n := 1; ; n++ {
		p := theWrongWayRound(t)
		f := &fault{Store: p.store, Leases: skein.LeasesOf(p.store), Lifecycle: skein.LifecycleOf(p.store), left: n}
		_, err := importer.Import(context.Background(), f, []interop.Format{toy()}, []string{p.path("a.toy")}, interop.Options{Named: true})
		for range 2 {
			p.bring(interop.Options{})
		}
		for id, last := range map[string]string{"a": " a3", "b": " b1", "c": " c1", "k": " k1", "l": " l1"} {
			if got := p.tell(id); !strings.HasSuffix(got, last) || id < "k" && !strings.Contains(got, "a1 ") {
				t.Errorf("events of %s: %s, want those of its file, to%s", id, got, last)
			}
		}
		p.names(interop.Options{}, "a.toy")
		p.wants("a", "created a1 a2 a3")
		p.wants("b", "created a1 a2 fork(a@3) b1")
		p.wants("c", "created a1 a2 a3 fork(a@4) c1")
		if p.Failed() {
			t.Fatalf("stopped before write %d", n)
		}
		if err == nil && f.left > 0 {
			if n < 6 {
				t.Errorf("an import that turns a fork writes %d times, want more", n-1)
			}
			return
		}
	}
}

// If somebody has added to either of the two, both stay unchanged.
func TestWhatSomebodyAddedToIsNotTurned(t *testing.T) {
	for _, id := range []string{"a", "b", "c"} {
		p := theWrongWayRound(t)
		p.add(id, asked("here"))
		p.names(interop.Options{}, "a.toy", "b.toy")
		p.wants("a", map[bool]string{true: "created a1 a2 fork(b@3) a3 here", false: "created a1 a2 fork(b@3) a3"}[id == "a"])
	}
}

// While somebody is writing to one of them, both stay unchanged, with all their events.
func TestWhatSomebodyWorksOnIsNotTurned(t *testing.T) {
	for _, id := range []skein.SessionID{"a", "b", "c"} {
		p := theWrongWayRound(t)
		lease, err := skein.LeasesOf(p.store).Acquire(t.Context(), id, skein.LeaseRequest{Program: "test"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			p.names(interop.Options{}, "a.toy", "b.toy")
			p.wants("a", "created a1 a2 fork(b@3) a3")
			p.wants("b", "created a1 a2 b1")
			p.wants("c", "created a1 a2 fork(b@3) a3 fork(a@5) c1")
			p.wants("k", "child(b@2) k1")
			p.wants("l", "child(b@4) l1")
		}
		if err := skein.LeasesOf(p.store).Release(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		p.names(interop.Options{}, "a.toy", "b.toy")
		p.wants("a", "created a1 a2 a3")
		p.wants("c", "created a1 a2 a3 fork(a@4) c1")
		if t.Failed() {
			t.Fatalf("while somebody works on %s", id)
		}
	}
}

// A fault is a store that stops working before its n-th write.
type fault struct {
	skein.Store
	skein.Leases
	skein.Lifecycle
	left int
}

func (f *fault) Unwrap() skein.Store { return f.Store }

var errFault = fmt.Errorf("the program was killed")

func (f *fault) spend() error {
	if f.left--; f.left < 0 {
		return errFault
	}
	return nil
}

func (f *fault) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	if err := f.spend(); err != nil {
		return nil, err
	}
	return f.Store.Append(ctx, bs...)
}

func (f *fault) Delete(ctx context.Context, id skein.SessionID, d skein.Deletion) (skein.Deleted, error) {
	if err := f.spend(); err != nil {
		return skein.Deleted{}, err
	}
	return skein.LifecycleOf(f.Store).Delete(ctx, id, d)
}

func (f *fault) Acquire(ctx context.Context, id skein.SessionID, r skein.LeaseRequest) (skein.Lease, error) {
	if f.left < 0 {
		return skein.Lease{}, errFault
	}
	return skein.LeasesOf(f.Store).Acquire(ctx, id, r)
}

// The usage of shared requests counts for the original, in whatever order the files come.
func TestWhatAForkRepeatsIsTheOriginalsInWhateverOrderTheyCome(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.write("b.toy", "a1", "a2", "b1")
	p.names(interop.Options{}, "b.toy")
	p.names(interop.Options{}, "a.toy")
	places, err := skein.SourcesOf(p.store).Find(context.Background(), []skein.ClientID{"a1", "a2", "b1"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, key := range []skein.ClientID{"a1", "a2", "b1"} {
		got = append(got, string(places[key].Session))
	}
	if want := "a a b"; strings.Join(got, " ") != want {
		t.Errorf("the events are those of %s, want %s", strings.Join(got, " "), want)
	}
}

// A session that was taken out to be read again, and of which its own file then has
// nothing, begins when another file has more of it. Once a person destroys it, it stays
// destroyed.
func TestWhatWasTakenOutBeginsAgainWhereMoreOfItIs(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.write("x/b.toy", "a1")
	p.names(interop.Options{}, "x/b.toy")
	p.wants("b", "created a1")
	p.names(interop.Options{}, "a.toy")
	p.wants("a", "created a1 a2")
	p.write("y/b.toy", "a1", "b1")
	for range 2 {
		p.bring(interop.Options{})
		p.wants("b", "created a1 fork(a@2) b1")
	}
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "b", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	p.bring(interop.Options{})
	if got := p.sessions(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("sessions %q, want a alone: b was destroyed", got)
	}
}
