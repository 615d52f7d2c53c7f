package interop_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
)

// leaves is the format leaf, with documents that are recognized by their content
// and files of lines, x.lines.
func leaves() interop.Format {
	f := leaf()
	f.Match = ending(".lines")
	f.Document = func(_ string, head []byte) (g interop.Guess) {
		if bytes.Contains(head, []byte(`"toys": [`)) {
			g = interop.KnownBy("it has toys")
		}
		return g
	}
	look := f.Look
	f.Look = func(ctx context.Context, path string) (interop.Unit, error) {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("stranger")) {
			return nil, interop.ErrOther
		}
		return look(ctx, path)
	}
	f.Open = func(file interop.File) interop.Reader {
		r := toyReader{id: strings.TrimSuffix(filepath.Base(file.Path), filepath.Ext(file.Path)), at: map[string]int{}}
		if file.Unit {
			return &leafReader{r}
		}
		return &r
	}
	return f
}

func (p *place) bringAs(formats ...interop.Format) interop.Report {
	p.Helper()
	rep, err := importer.Import(context.Background(), p.store, formats, []string{p.dir}, interop.Options{})
	if err != nil {
		p.Fatalf("Import(%s) = %v", p.dir, err)
	}
	return rep
}

func TestADocumentWithAnotherNameIsKnownByWhatIsInIt(t *testing.T) {
	p := newPlace(t)
	p.raw("a.jsonl", leafText("a1", "a2"))
	if rep := p.bringAs(toy(), leaves()); rep.Files != 1 || rep.Sessions != 1 || rep.Damaged != 0 || rep.Unmatched != 0 {
		t.Errorf("Import = %+v, want 1 session of 1 file", rep)
	}
	if rep := p.bringAs(toy(), leaves()); rep.Files != 1 || rep.Unchanged != 1 || rep.Events != 0 {
		t.Errorf("second Import = %+v, want 1 file unchanged", rep)
	}
	p.raw("a.jsonl", leafText("a1", "a2", "a3"))
	p.raw("b.txt", leafText("stranger"))
	if rep := p.bringAs(toy(), leaves()); rep.Files != 1 || rep.Events != 1 || rep.Unmatched != 1 {
		t.Errorf("Import of one that has grown beside another's = %+v, want 1 event and 1 unmatched", rep)
	}
	p.wants("a", "created a1 a2 a3")
	found, rep, err := discover.Find(t.Context(), p.store, []interop.Format{toy(), leaves()}, []string{p.dir})
	if err != nil || len(found) != 1 || found[0].Files != 1 || found[0].New+found[0].Grown != 0 || rep.Unmatched != 1 {
		t.Errorf("Find = %+v, %+v, %v, want 1 file that is stored and 1 unmatched", found, rep, err)
	}
	p.comesBack("a", "a.jsonl")
}

// comesBack exports a session as a leaf, and compares it with the file that it
// was read from.
func (p *place) comesBack(id, name string) {
	p.Helper()
	home := p.TempDir()
	if _, err := writeback.Export(context.Background(), p.store, leaves(), skein.SessionID(id), home, writeback.Exports{}); err != nil {
		p.Fatal(err)
	}
	want, err := os.ReadFile(p.path(name))
	if err != nil {
		p.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || !bytes.Equal(got, want) {
		p.Errorf("%s written again is %q, %v; want %q", name, got, err, want)
	}
}

func TestAFileOfLinesIsWrittenAgainWhereOthersAreDocuments(t *testing.T) {
	p := newPlace(t)
	p.write("a.lines", "a1", "a2")
	p.bringAs(leaves())
	p.wants("a", "created a1 a2")
	p.comesBack("a", "a.lines")
}

func TestFilesThatBelongToNoUnitAfterAllAreReadByThemselves(t *testing.T) {
	other := box()
	other.Look = func(context.Context, string) (interop.Unit, error) { return nil, interop.ErrOther }
	formats := []interop.Format{other, base(), toy()}
	p := newPlace(t)
	p.write("x.box/a.toy", "a1")
	p.raw("x.box/readme.txt", "of no use")
	p.raw("y.box/readme.txt", "of no use")
	p.write("toys.db.b.toy", "b1") // there is no toys.db
	if rep := p.bringAs(formats...); rep.Sessions != 2 || rep.Files != 2 || rep.Unmatched != 1 {
		t.Errorf("Import = %+v, want 2 sessions of 2 files, and 1 folder unmatched", rep)
	}
	if rep := p.bringAs(formats...); rep.Events != 0 || rep.Files != 2 || rep.Unchanged != 2 {
		t.Errorf("second Import = %+v, want 2 files unchanged", rep)
	}
	found, _, err := discover.Find(t.Context(), p.store, formats, []string{p.dir})
	if err != nil || len(found) != 1 || found[0].Files != 2 || found[0].Format != "toy" {
		t.Errorf("Find = %+v, %v, want 2 files of toy", found, err)
	}
	w := watchAs(t, p, formats...)
	w.append("x.box/a.toy", line("a2"))
	w.until("a", "created a1 a2")
	w.append("x.box/c.toy", line("c1"))
	w.until("c", "created c1")
	w.append("toys.db.b.toy", line("b2"))
	w.until("toys.db.b", "created b1 b2")
}

func TestWatchTakesADocumentThatStaysCutOff(t *testing.T) {
	for _, name := range []string{"a.leaf", "a.jsonl"} {
		p := newPlace(t)
		cut := leafText("a1", "a2")
		p.raw(name, cut[:strings.Index(cut, `"a2"`)])
		young := time.Now().Add(-9 * time.Second) // for one more second it may be being written
		if err := os.Chtimes(p.path(name), young, young); err != nil {
			t.Fatal(err)
		}
		w := watchAs(t, p, leaves())
		w.until("a", "created a1")
	}
}

func TestWatchFollowsADocumentWithAnotherName(t *testing.T) {
	p := newPlace(t)
	p.raw("a.jsonl", leafText("a1"))
	w := watchAs(t, p, toy(), leaves())
	p.raw("a.jsonl", leafText("a1", "a2"))
	w.until("a", "created a1 a2")
}
