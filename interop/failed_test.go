package interop_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
)

// A refusing store accepts nothing for one session until it is told to.
type refusing struct {
	skein.Store
	id    skein.SessionID
	takes atomic.Bool
}

func (r *refusing) Unwrap() skein.Store { return r.Store }

func (r *refusing) Append(ctx context.Context, bs ...skein.Batch) ([]skein.Receipt, error) {
	for _, b := range bs {
		if b.Session == r.id && !r.takes.Load() {
			return nil, errDisk
		}
	}
	return r.Store.Append(ctx, bs...)
}

var errDisk = errors.New("a bad page")

func TestWhatFailsIsNamedAndTriedAgain(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "kid/kid")
	p.write("b.toy", "b1")
	p.write("c.toy", `{"for":"b1","say":"title"}`+"\n", "c1")
	whole := p.store
	for _, id := range []skein.SessionID{"a", "kid"} {
		p.store = &refusing{Store: whole, id: id}
		rep := p.bring(interop.Options{})
		if rep.Failed != 1 || rep.Retried != 1 || !errors.Is(rep.Err, errDisk) || len(rep.Skips) != 1 || rep.Skips[0].Path != p.path("a.toy") || !strings.Contains(rep.Skips[0].Why, errDisk.Error()) {
			t.Errorf("Import where %s is refused = %+v, want a.toy named with why", id, rep)
		}
		p.wants("b", "created b1 T:title")
		p.wants("c", "created c1")
	}
	p.store = whole
	if rep := p.bring(interop.Options{}); rep.Failed != 0 {
		t.Errorf("Import of what failed = %+v, want it taken in", rep)
	}
	p.wants("a", "created a1")
	p.wants("kid", "child(a@2) kid")
}

// The source beside a damaged side file is imported without it, and known from then on.
func TestADamagedSideFileIsNotTriedAgain(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.raw(".a.toy.skein", "no side file\n")
	bring := func() interop.Report {
		t.Helper()
		rep, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("a.toy")}, interop.Options{Named: true})
		if err != nil {
			t.Fatal(err)
		}
		return rep
	}
	if rep := bring(); rep.Failed != 1 || rep.Retried != 0 || rep.Sessions != 1 {
		t.Errorf("Import beside a damaged side file = %+v, want one session, and what failed not to be tried again", rep)
	}
	if rep := bring(); rep.Failed != 0 {
		t.Errorf("second Import = %+v, want nothing tried again", rep)
	}
}

func TestATitleThatIsRefusedIsSetByALaterImport(t *testing.T) {
	p := newPlace(t)
	p.write("b.toy", "b1")
	p.bring(interop.Options{})
	p.write("a.toy", `{"for":"b1","say":"title"}`+"\n", `{"for":"c1","say":"of c"}`+"\n", "a1")
	p.write("c.toy", "c1")
	whole := p.store
	p.store = &refusing{Store: whole, id: "b"}
	if rep := p.bring(interop.Options{}); rep.Failed != 1 || rep.Sessions != 2 {
		t.Errorf("Import where b takes no title = %+v, want that named, and 2 sessions", rep)
	}
	p.wants("c", "created c1 T:of c")
	p.store = whole
	p.bring(interop.Options{})
	p.wants("b", "created b1 T:title")
}

func TestAReaderThatPanicsEndsItsFileOnly(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "panic", "a2")
	p.write("b.toy", "b1")
	f := toy()
	open := f.Open
	f.Open = func(file interop.File) interop.Reader { return panicking{open(file)} }
	rep, err := importer.Import(t.Context(), p.store, []interop.Format{f}, []string{p.dir}, interop.Options{})
	if err != nil || rep.Failed != 1 || !strings.Contains(rep.Err.Error(), "a bug in skein") {
		t.Errorf("Import = %+v, %v, want a.toy named", rep, err)
	}
	p.wants("a", "created a1")
	p.wants("b", "created b1")
	p.bring(interop.Options{})
	p.wants("a", "created a1 panic a2")
}

type panicking struct{ interop.Reader }

func (r panicking) Read(l interop.Line) (interop.Made, error) {
	if strings.Contains(string(l.Body), "panic") {
		panic("index out of range")
	}
	return r.Reader.Read(l)
}

func TestWatchGoesOnWithWhatItCanTake(t *testing.T) {
	p := newPlace(t)
	r := &refusing{Store: p.store, id: "a"}
	p.store = r
	w := watchDir(t, p)
	w.append("a.toy", line("a1"))
	w.append("b.toy", line("b1"))
	w.until("b", "created b1")
	r.takes.Store(true)
	w.append("a.toy", line("a2"))
	w.until("a", "created a1 a2")
}

func TestSyncSaysWhyItsSourceIsNotTakenIn(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.bring(interop.Options{})
	p.add("a", asked("here"))
	p.write("a.toy", "a1", "~f")
	_, err := writeback.Sync(t.Context(), &refusing{Store: p.store, id: "a"}, toy(), "a")
	if !errors.Is(err, errDisk) {
		t.Errorf("Sync of a session that takes nothing = %v, want %v", err, errDisk)
	}
}

func TestAForkThatSaysARecordOfItsParentOtherwise(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.bring(interop.Options{})
	p.write("f.toy", "a2", "a1=otherwise")
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2")
	p.wants("f", "created a1 a2 fork(a@3) otherwise")
	p.exact("f.toy")
}

func TestARecordWhoseKeyIsThatOfAnothersPart(t *testing.T) {
	p := newPlace(t)
	p.raw("a.toy", `{"id":"a","say":"x","and":["y"]}`+"\n"+`{"id":"a/1","say":"z"}`+"\n")
	p.bring(interop.Options{})
	p.wants("a", "created x y z")
	p.raw("b.toy", `{"id":"d/1","say":"z"}`+"\n"+`{"id":"d","say":"x","and":["y"]}`+"\n")
	p.bring(interop.Options{})
	p.wants("b", "created z x y")
}

func TestARecordWhoseKeyIsOneOfTheEngines(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "created", "x", `{"id":"amended/3/0","say":"y"}`+"\n", `{"id":"created/rewound","say":"z"}`+"\n")
	p.bring(interop.Options{})
	p.wants("a", "created created x y z")
	p.write("a.toy", "created", "x=other", `{"id":"amended/3/0","say":"y"}`+"\n", `{"id":"created/rewound","say":"z"}`+"\n")
	p.bring(interop.Options{})
	p.wants("a", "created created x y z 3:=other")
}
