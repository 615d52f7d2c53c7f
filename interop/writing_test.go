package interop_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
)

// A meddler is a store whose user does something of its own in the middle of another
// user's work: once, as soon as when is true.
type meddler struct {
	skein.Store
	skein.Sources
	when func() bool
	do   func()
	done *atomic.Bool
}

func (m meddler) Unwrap() skein.Store { return m.Store }

func (m meddler) meddle() {
	if m.when() && m.done.CompareAndSwap(false, true) {
		m.do()
	}
}

func (m meddler) Records(ctx context.Context, format, path string, from int) iter.Seq2[skein.Record, error] {
	m.meddle()
	return skein.SourcesOf(m.Store).Records(ctx, format, path, from)
}

func (m meddler) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	m.meddle()
	return m.Store.Session(ctx, id)
}

func TestAnImportInTheMiddleOfASyncTakesNothingForTheProgramsOwn(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			id, want := "a", "created a1 more"
			switch f.Name {
			case "toy":
				p.write("a.toy", "a1")
			case "box":
				p.raw("a.box/talk.jsonl", line("a1"))
			default:
				p.toys()
				want = "created T:A one three more"
			}
			p.again()
			p.add(id, asked("more"))
			before, was := p.sessions(), p.bytes()
			var rep interop.Report
			m := meddler{p.store, skein.SourcesOf(p.store), func() bool { return p.bytes() != was }, func() { rep = p.again() }, &atomic.Bool{}}
			done, err := writeback.Sync(t.Context(), m, f, skein.SessionID(id))
			if err != nil || done.Events != 1 {
				t.Fatalf("Sync = %+v, %v, want 1 event", done, err)
			}
			if !m.done.Load() || rep.Events != 0 {
				t.Errorf("Import in the middle of it (%v) = %+v, want that it leaves the file for later", m.done.Load(), rep)
			}
			if rep := p.again(); rep.Events != 0 || rep.Waiting != 0 {
				t.Errorf("Import after it = %+v, want nothing new", rep)
			}
			p.wants(id, want)
			if got := p.sessions(); strings.Join(got, " ") != strings.Join(before, " ") {
				t.Errorf("sessions: %q, want %q", got, before)
			}
			p.add(id, asked("still more"))
			if done, err := p.sync(f, id); err != nil || done.Events != 1 {
				t.Errorf("Sync of more = %+v, %v, want 1 event", done, err)
			}
		})
	}
}

func TestAnImportInTheMiddleOfAnExportMakesNoOtherSessionOfIt(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			p.add("s", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("one"), asked("two"))
			was := p.bytes()
			var rep interop.Report
			m := meddler{p.store, skein.SourcesOf(p.store), func() bool { return p.bytes() != was }, func() { rep = p.again() }, &atomic.Bool{}}
			if _, err := writeback.Export(t.Context(), m, f, "s", p.dir, writeback.Exports{}); err != nil {
				t.Fatal(err)
			}
			if !m.done.Load() || rep.Events != 0 {
				t.Errorf("Import in the middle of it (%v) = %+v, want that it leaves the file for later", m.done.Load(), rep)
			}
			if rep := p.again(); rep.Events != 0 || rep.Waiting != 0 {
				t.Errorf("Import after it = %+v, want nothing new", rep)
			}
			if got := p.sessions(); strings.Join(got, " ") != "s" {
				t.Errorf("sessions: %q, want s alone", got)
			}
		})
	}
}

func TestWatchTakesWhatIsExportedAsWhatItIs(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			p.add("s", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("one"), asked("two"))
			w := watchAs(t, p, everyToy...)
			was := p.bytes()
			sees := func() {
				w.append("z.toy", line("z"))
				w.until("z", "created z")
			}
			m := meddler{p.store, skein.SourcesOf(p.store), func() bool { return p.bytes() != was }, sees, &atomic.Bool{}}
			if _, err := writeback.Export(t.Context(), m, f, "s", p.dir, writeback.Exports{}); err != nil {
				t.Fatal(err)
			}
			for !slices.Contains(p.filed(f.Name), "s") {
				w.next()
			}
			if got := p.sessions(); strings.Join(got, " ") != "s z" {
				t.Errorf("sessions: %q, want s and z alone", got)
			}
		})
	}
}

func TestWatchLeavesWhatIsWrittenBackToTheSessionItCameFrom(t *testing.T) {
	for _, f := range []interop.Format{toy(), box()} {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			file := map[string]string{"toy": "a.toy", "box": "a.box/talk.jsonl"}[f.Name]
			p.raw(file, line("a1"))
			w := watchAs(t, p, everyToy...)
			p.add("a", asked("more"))
			was := p.bytes()
			sees := func() {
				w.append("z.toy", line("z"))
				w.until("z", "created z")
			}
			m := meddler{p.store, skein.SourcesOf(p.store), func() bool { return p.bytes() != was }, sees, &atomic.Bool{}}
			if done, err := writeback.Sync(t.Context(), m, f, "a"); err != nil || done.Events != 1 || !m.done.Load() {
				t.Fatalf("Sync = %+v, %v, want 1 event", done, err)
			}
			w.append(file, line("a3"))
			w.until("a", "created a1 more a3")
			if got := p.sessions(); strings.Join(got, " ") != "a z" {
				t.Errorf("sessions: %q, want a and z alone", got)
			}
		})
	}
}

func TestWhatSkeinIsAboutToRenameIsNoFileOfAnybody(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.write(".skein-MFRGGZDFMZTWQ2LKNNWG23TPOB", "x")
	p.write(".skein-1234/b.toy", "b1")
	p.write(".skein-kept/c.toy", "c1")
	p.raw("d.box/talk.jsonl", line("d1"))
	p.raw("d.box/deep/.skein-MFRGGZDFMZTWQ2LKNNWG23TPOB", "x")
	if rep := p.again(); rep.Files != 3 || rep.Unmatched != 0 || rep.Skipped != 0 {
		t.Errorf("Import = %+v, want 3 files and nothing else", rep)
	}
	var got strings.Builder
	if err := writeback.WriteSource(t.Context(), p.store, "box", p.path("d.box"), &got); err != nil || strings.Contains(got.String(), ".skein-") {
		t.Errorf("WriteSource gives %q and the error %v, want no file that will be renamed", got.String(), err)
	}
}

func TestASyncOfWhatIsGoneSaysSo(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			switch f.Name {
			case "toy":
				p.write("a.toy", "a1")
			case "box":
				p.raw("a.box/talk.jsonl", line("a1"))
			default:
				db := p.toys()
				p.again()
				exec(t, db, `DELETE FROM toys WHERE talk = 'a'`, `DELETE FROM talks WHERE id = 'a'`)
			}
			p.again()
			p.add("a", asked("more"))
			if f.Name != "base" {
				if err := os.RemoveAll(p.path("a." + f.Name)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := p.sync(f, "a"); !errors.Is(err, skein.ErrNotFound) {
				t.Errorf("Sync of a session that its program has no more = %v, want ErrNotFound", err)
			}
		})
	}
}

// filed returns the sessions that files of a format hold.
func (p *place) filed(format string) (ids []string) {
	p.Helper()
	for f, err := range skein.SourcesOf(p.store).Files(p.Context(), format) {
		if err != nil {
			p.Fatal(err)
		}
		ids = append(ids, string(f.Session))
	}
	return ids
}

// bytes returns the contents of the folder's files.
func (p *place) bytes() string {
	p.Helper()
	var all []string
	for name, text := range tree(p.T, p.dir) {
		if !strings.Contains(name, ".skein") {
			all = append(all, name+text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

func TestNamesThatAreLongAreWrittenBackToo(t *testing.T) {
	long := strings.Repeat("会", 70)
	t.Run("base", func(t *testing.T) {
		p := newPlace(t)
		p.toys(`INSERT INTO talks VALUES ('`+long+`', 'L')`, `INSERT INTO toys VALUES (4,'`+long+`','four')`)
		p.again()
		f := base()
		for s, err := range skein.SourcesOf(p.store).Files(t.Context(), f.Name) {
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != long {
				continue
			}
			p.add(string(s.Session), asked("more"))
			if done, err := p.sync(f, string(s.Session)); err != nil || done.Events != 1 || done.Name != long {
				t.Errorf("Sync = %+v, %v, want 1 event in the source of its name", done, err)
			}
			return
		}
		t.Error("there is no such source")
	})
	t.Run("box", func(t *testing.T) {
		p := newPlace(t)
		name := strings.Repeat("n", 251)
		p.raw(name+".box/talk.jsonl", line("a1"))
		if rep := p.again(); rep.Skipped != 0 {
			t.Errorf("Import = %+v, want nothing skipped", rep)
		}
		f := box()
		write := f.Write
		f.Write = func(ctx context.Context, d interop.Draft) (interop.Written, error) {
			w, err := write(ctx, d)
			w.Texts[0].Path = d.Path
			return w, err
		}
		p.add(p.sessions()[0], asked("more"))
		if done, err := p.sync(f, p.sessions()[0]); err != nil || done.Events != 1 {
			t.Errorf("Sync = %+v, %v, want 1 event", done, err)
		}
	})
	t.Run("toy", func(t *testing.T) {
		p := newPlace(t)
		id := strings.Repeat("n", 100)
		f := toy()
		f.Write = func(ctx context.Context, d interop.Draft) (interop.Written, error) {
			w, err := writeToy(ctx, d)
			w.Texts[0].Path = strings.Repeat("n", 251) + ".toy"
			return w, err
		}
		p.add(id, skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("one"))
		if _, err := writeback.Export(t.Context(), p.store, f, skein.SessionID(id), p.dir, writeback.Exports{}); err != nil {
			t.Fatal(err)
		}
		if p.again(); strings.Join(p.sessions(), " ") != id {
			t.Errorf("sessions: %q, want that alone", p.sessions())
		}
	})
}
