package interop_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
)

// names imports files of a place as if the user had named them.
func (p *place) names(o interop.Options, files ...string) interop.Report {
	p.Helper()
	o.Named = true
	for i := range files {
		files[i] = p.path(files[i])
	}
	rep, err := importer.Import(p.Context(), p.store, []interop.Format{toy()}, files, o)
	if err != nil {
		p.Fatal(err)
	}
	return rep
}

// A file that yielded nothing is reported with the reason, each time; files in a folder
// that was named are only counted.
func TestANamedFileThatGivesNothingFails(t *testing.T) {
	for name, tt := range map[string]struct {
		file, data, why string
	}{
		"no format recognizes it": {"note.txt", "hello\n", "toy does not recognize it"},
		"empty":                   {"empty.txt", "", "the file is empty"},
		"not packed":              {"a.toy.gz", line("a1"), "toy does not recognize it"},
		"no session":              {"none.toy", "\n\n", "it contains no session"},
		"one damaged line":        {"none.toy", "\n[]\n", "it contains no session: line 2 is damaged (no toy)"},
		"damaged lines":           {"none.toy", "[]\n\n[]\n", "it contains no session: 2 records are damaged, the first in line 1 (no toy)"},
		"a long line":             {"none.toy", line(strings.Repeat("a", interop.MaxRecord)), "it contains no session: line 1 is damaged (line longer than 20971520 bytes)"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.raw(tt.file, tt.data)
			p.write("b.toy", "b1")
			for n := range 2 {
				rep := p.names(interop.Options{}, tt.file, "b.toy")
				if rep.Failed != 1 || len(rep.Skips) != 1 || rep.Skips[0].Path != p.path(tt.file) || rep.Skips[0].Why != tt.why || rep.Unmatched != 0 {
					t.Errorf("import %d of %s = %+v, want it named: %s", n, tt.file, rep, tt.why)
				}
			}
			p.wants("b", "created b1")
			if rep := p.names(interop.Options{}, ""); rep.Failed != 0 {
				t.Errorf("Import of the folder = %+v, want nothing failed", rep)
			}
		})
	}
}

// What keeps a unit from yielding anything is reported each time, although it has not
// changed.
func TestANamedUnitThatGivesNothingFails(t *testing.T) {
	f := leaves()
	f.Open = func(interop.File) interop.Reader { return noToys{} }
	look := f.Look
	f.Look = func(ctx context.Context, path string) (interop.Unit, error) {
		u, err := look(ctx, path)
		return skipping{u, path}, err
	}
	for file, why := range map[string]string{"a.leaf": "a page is damaged", "b.leaf": "it contains no session: 3 records are damaged (no toy)"} {
		p := newPlace(t)
		p.raw(file, leafText("a1"))
		for n := range 2 {
			rep, err := importer.Import(t.Context(), p.store, []interop.Format{f}, []string{p.path(file)}, interop.Options{Named: true})
			if err != nil || rep.Failed != 1 || len(rep.Skips) != 1 || rep.Skips[0].Why != why {
				t.Errorf("import %d of %s = %+v, %v, want it named: %s", n, file, rep, err, why)
			}
		}
	}
}

// noToys finds every record damaged.
type noToys struct{}

func (noToys) Read(interop.Line) (interop.Made, error) { return interop.Made{}, errors.New("no toy") }

// skipping could not read a part of a.leaf.
type skipping struct {
	interop.Unit
	path string
}

func (s skipping) Skips() []interop.Skip {
	if strings.HasSuffix(s.path, "a.leaf") {
		return []interop.Skip{{Path: s.path, Why: "a page is damaged"}}
	}
	return nil
}

func TestANamedFileThatIsLeftOutFails(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.names(interop.Options{}, "a.toy")
	if rep := p.names(interop.Options{}, "a.toy"); rep.Failed != 0 || rep.Unchanged != 1 {
		t.Errorf("Import of what was imported = %+v, want nothing failed", rep)
	}
	l, err := skein.LeasesOf(p.store).Acquire(t.Context(), "a", skein.LeaseRequest{Program: "another"})
	if err != nil {
		t.Fatal(err)
	}
	p.write("a.toy", "a1", "a2")
	if rep := p.names(interop.Options{}, "a.toy"); rep.Failed != 1 || rep.Waiting != 0 || !strings.Contains(rep.Skips[0].Why, "locked") {
		t.Errorf("Import of what is locked = %+v, want it named", rep)
	}
	if err := skein.LeasesOf(p.store).Release(context.WithoutCancel(t.Context()), l); err != nil {
		t.Fatal(err)
	}
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if rep := p.names(interop.Options{}, "a.toy"); rep.Failed != 1 || rep.Removed != 0 || !strings.Contains(rep.Skips[0].Why, "--again") {
		t.Errorf("Import of what was destroyed = %+v, want it named", rep)
	}
	if rep := p.names(interop.Options{Again: true}, "a.toy"); rep.Failed != 0 || rep.Sessions != 1 {
		t.Errorf("Import of it with Again = %+v, want the session", rep)
	}
}

// A named file has failed if it was read without the session in its side file.
func TestANamedFileWithADamagedSideFileFails(t *testing.T) {
	for _, named := range []bool{true, false} {
		p := newPlace(t)
		p.write("a.toy", "a1")
		p.raw(".a.toy.skein", "rubbish\n")
		files := []string{"a.toy"}
		want := 1
		if !named {
			files, want = []string{""}, 0
		}
		rep := p.names(interop.Options{}, files...)
		if rep.Failed != want || rep.Skipped != 1 || !strings.Contains(rep.Skips[0].Why, "side file") {
			t.Errorf("named %v: Import = %+v, want the side file told of, and %d failed", named, rep, want)
		}
		p.wants("a", "created a1")
	}
}

// A path that does not exist does not keep others from being imported.
func TestANamedPathThatDoesNotExistFailsAlone(t *testing.T) {
	for _, files := range [][]string{{"a.toy", "b.toy"}, {"b.toy", "a.toy"}, {"b.toy", "a.toy", "b.toy"}} {
		p := newPlace(t)
		p.write("a.toy", "a1")
		rep := p.names(interop.Options{}, files...)
		if rep.Failed != 1 || len(rep.Skips) != 1 || rep.Skips[0].Path != p.path("b.toy") || !errors.Is(rep.Err, fs.ErrNotExist) {
			t.Errorf("Import of a file beside one that does not exist = %+v, want that named", rep)
		}
		p.wants("a", "created a1")
	}
	p := newPlace(t)
	if rep, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("a.toy"), p.path("b.toy")}, interop.Options{Named: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Import of what does not exist = %+v, %v, want %v", rep, err, fs.ErrNotExist)
	}
}

// A quotation in other text is not a record.
func TestOnlyFilesOfRecordsAreKnownByWhatIsInThem(t *testing.T) {
	known := toy()
	known.Match = func(_ string, head []byte) (g interop.Guess) {
		if bytes.Contains(head, []byte(`"id"`)) {
			g = interop.KnownBy("it has an ID")
		}
		return g
	}
	for text, want := range map[string]int{
		"package toys\n\nconst one = `" + line("a1") + "`\nvar two = []string{\n{\"id\", \"x\"},\n}\n": 0,
		"A line:\n```\n" + line("a1") + "```\n":                                                        0,
		"{\n\"id\": \"a1\",\n\"text\": \"a1\"\n}\n":                                                    0,
		line("a1") + line("a2"):                                                                        1,
		"ck\"}\n" + line("a1"):                                                                         1, // its beginning was cut off
		line("a1") + "\x00\x00\x00\n" + line("a2"):                                                     1,
		"\xef\xbb\xbf\n" + line("a1") + strings.TrimSuffix(line("a2"), "}\n"):                          1,
	} {
		p := newPlace(t)
		p.raw("x.text", text)
		if rep := p.bringAs(known); rep.Files != want {
			t.Errorf("Import of %q = %+v, want %d files known", text, rep, want)
		}
	}
}
