package interop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
)

// leaf is a format whose sessions are documents x.leaf: {"id":…, "toys":[…]}.
func leaf() interop.Format {
	return interop.Format{
		Name: "leaf", Doc: "for tests", Places: func(interop.Home) []string { return nil },
		Unit: func(name string) string {
			if strings.HasSuffix(name, ".leaf") {
				return name
			}
			return ""
		},
		Look: func(ctx context.Context, path string) (interop.Unit, error) {
			return interop.OpenDocument(ctx, path, func(b []byte) ([][]byte, bool) { return loose.Cut(b, "toys") })
		},
		Open: func(f interop.File) interop.Reader {
			return &leafReader{toyReader{id: strings.TrimSuffix(filepath.Base(f.Path), ".leaf"), at: map[string]int{}}}
		},
		Put: interop.PutDocument,
	}
}

type leafReader struct{ toyReader }

func (r *leafReader) Read(l interop.Line) (m interop.Made, err error) {
	piece, err := interop.Piece(l.Body)
	if el := loose.Element(piece); err == nil && bytes.HasPrefix(el, []byte(`{"id":"`)) && bytes.HasSuffix(el, []byte("}")) {
		return r.toyReader.Read(interop.Line{N: l.N, Number: l.Number, Body: el})
	}
	return m, err
}

func (p *place) bringLeaves() interop.Report {
	p.Helper()
	rep, err := importer.Import(context.Background(), p.store, []interop.Format{leaf()}, []string{p.dir}, interop.Options{})
	if err != nil {
		p.Fatalf("Import(%s) = %v", p.dir, err)
	}
	return rep
}

func leafText(words ...string) string {
	var toys []string
	for _, w := range words {
		toys = append(toys, strings.TrimSpace(line(w)))
	}
	return "{\n \"v\": 1, \"toys\": [\n  " + strings.Join(toys, ",\n  ") + "\n ]\n}"
}

func TestADocumentIsComparedPieceByPiece(t *testing.T) {
	p := newPlace(t)
	p.raw("a.leaf", leafText("a1", "a2"))
	if rep := p.bringLeaves(); rep.Sessions != 1 || rep.Events != 3 || rep.Damaged != 0 {
		t.Errorf("Import = %+v, want 1 session of 3 events", rep)
	}
	p.raw("a.leaf", leafText("a1", "a2", "a3"))
	if rep := p.bringLeaves(); rep.Events != 1 || rep.Amended != 0 {
		t.Errorf("Import of one that has grown = %+v, want 1 event", rep)
	}
	p.raw("a.leaf", leafText("a1", "a2=new"))
	if rep := p.bringLeaves(); rep.Events != 2 || rep.Amended != 2 {
		t.Errorf("Import of one with a change and a toy less = %+v, want 2 amended", rep)
	}
	p.wants("a", "created a1 a2 a3 3:=new -4")
}

func TestADocumentComesBackFromItsRecords(t *testing.T) {
	for _, text := range []string{leafText("a1"), "\xef\xbb\xbf" + leafText("a1", "a2") + "\r\n", leafText("a1") + " \xff\x00 damage", "{}", "no JSON"} {
		p := newPlace(t)
		p.raw("a.leaf", text)
		if err := os.Chtimes(p.path("a.leaf"), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		p.bringLeaves()
		var lines bytes.Buffer
		if err := writeback.WriteSource(t.Context(), p.store, "leaf", p.path("a.leaf"), &lines); err != nil {
			t.Fatalf("WriteSource of %q: %v", text, err)
		}
		to := filepath.Join(t.TempDir(), "sub", "b.leaf")
		if err := interop.PutDocument(t.Context(), to, []interop.Part{{Lines: &lines}}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(to); err != nil || string(got) != text {
			t.Errorf("written back: %q, %v; want %q", got, err, text)
		}
	}
}

func TestALongPieceIsTheLineThatItWouldBeInOnePiece(t *testing.T) {
	for _, text := range []string{strings.Repeat("aä\"\u20ac\U0001d11e\n", 300_000), strings.Repeat("x\xff\x00yz", 400_001)} {
		path := filepath.Join(t.TempDir(), "a.leaf")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		u, err := interop.OpenDocument(t.Context(), path, func(b []byte) ([][]byte, bool) { return [][]byte{b[:7], b[7:]}, true })
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for range 2 { // the second time is like the first
			in, err := u.Open(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			if got, err = io.ReadAll(in); err != nil {
				t.Fatal(err)
			}
		}
		if want := append(interop.PieceLine([]byte(text[:7])), interop.PieceLine([]byte(text[7:]))...); !bytes.Equal(got, want) {
			t.Errorf("the lines of a document of %d bytes are %d bytes, want the %d that PieceLine gives", len(text), len(got), len(want))
		}
	}
}

func TestADocumentThatIsBeingWrittenIsWaitedFor(t *testing.T) {
	p := newPlace(t)
	p.raw("a.leaf", leafText("a1", "a2"))
	p.bringLeaves()
	now := time.Now()
	p.raw("a.leaf", leafText("a1", "a2")[:50])
	if err := os.Chtimes(p.path("a.leaf"), now, now); err != nil {
		t.Fatal(err)
	}
	if rep := p.bringLeaves(); rep.Events != 0 || rep.Skipped != 1 {
		t.Errorf("Import of half a document = %+v, want it skipped", rep)
	}
	p.wants("a", "created a1 a2")
}

func TestADocumentThatHasChangedIsNotWrittenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.leaf")
	put := func(was, now string) error {
		part := interop.Part{Lines: bytes.NewReader(interop.PieceLine([]byte(now)))}
		if was != "" {
			part.Was = bytes.NewReader(interop.PieceLine([]byte(was)))
		}
		return interop.PutDocument(t.Context(), path, []interop.Part{part})
	}
	if err := errors.Join(put("", "one"), put("one", "two"), put("one", "two")); err != nil {
		t.Fatal(err)
	}
	for _, was := range []string{"", "one"} {
		if err := put(was, "three"); !errors.Is(err, interop.ErrChanged) {
			t.Errorf("PutDocument over what is not %q: %v, want ErrChanged", was, err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "two" {
		t.Errorf("the document is %q, %v; want two", got, err)
	}
}

// TestADocumentThatCouldNotBeReadIsNotWritten also tests that one which could be is written
// whole.
func TestADocumentThatCouldNotBeReadIsNotWritten(t *testing.T) {
	for _, c := range []struct {
		n    int // control characters, each of which is six bytes of JSON
		want error
	}{{interop.MaxDocument/6 - 100, nil}, {interop.MaxDocument / 6, interop.ErrTooLong}} {
		path := filepath.Join(t.TempDir(), "a.json")
		doc := interop.JSON(map[string]string{"text": strings.Repeat("\x01", c.n)})
		all := lines.OfRopes(interop.PieceRope(doc))
		err := interop.PutDocument(t.Context(), path, []interop.Part{{Lines: all}})
		if !errors.Is(err, c.want) {
			t.Errorf("PutDocument of %d bytes = %v, want %v", doc.Len(), err, c.want)
		}
		switch got, err := os.ReadFile(path); {
		case c.want == nil && (err != nil || !lines.OfRopes(doc).Equal(got)):
			t.Errorf("PutDocument of %d bytes wrote %d, %v", doc.Len(), len(got), err)
		case c.want != nil && !errors.Is(err, os.ErrNotExist):
			t.Errorf("PutDocument that was refused wrote %d bytes, %v", len(got), err)
		}
	}
}
