package upload_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/upload"
	"github.com/skein-dev/skein/store/memory"
)

// A file is an entry of an archive; text is where a link leads.
type file struct {
	name, text string
	link       bool
}

func tarred(t *testing.T, to io.Writer, files []file) {
	t.Helper()
	w := tar.NewWriter(to)
	for _, f := range files {
		h := tar.Header{Name: f.name, Typeflag: tar.TypeReg, Size: int64(len(f.text)), Mode: 0o644}
		if f.link {
			h = tar.Header{Name: f.name, Typeflag: tar.TypeSymlink, Linkname: f.text}
		}
		must(t, w.WriteHeader(&h))
		if !f.link {
			_, err := io.WriteString(w, f.text)
			must(t, err)
		}
	}
	must(t, w.Close())
}

// packed returns files as an archive of each kind that is unpacked.
func packed(t *testing.T, files ...file) map[string][]byte {
	t.Helper()
	var plain, small, zipped bytes.Buffer
	tarred(t, &plain, files)
	g := gzip.NewWriter(&small)
	tarred(t, g, files)
	must(t, g.Close())
	z := zip.NewWriter(&zipped)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate}
		h.SetMode(0o644)
		if f.link {
			h.SetMode(0o777 | fs.ModeSymlink)
		}
		w, err := z.CreateHeader(h)
		must(t, err)
		_, err = io.WriteString(w, f.text)
		must(t, err)
	}
	must(t, z.Close())
	return map[string][]byte{"all.tar": plain.Bytes(), "all.tar.gz": small.Bytes(), "all.TGZ": small.Bytes(), "all.zip": zipped.Bytes()}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// below returns the files in dir and its folders, with their texts.
func below(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path) // it is below
		all[filepath.ToSlash(name)] = string(b)
		return err
	}))
	return all
}

func TestAnArchiveGivesItsFilesInTheirFoldersAndNothingElse(t *testing.T) {
	for name, data := range packed(t, file{name: "a/b.jsonl", text: "one"}, file{name: "link", text: "/etc/passwd", link: true}, file{name: `a\c.jsonl`, text: "two"}, file{name: "/d", text: ""}) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, upload.Unpack(dir, name, bytes.NewReader(data)))
			got := below(t, dir)
			if len(got) != 3 || got["a/b.jsonl"] != "one" || got["a/c.jsonl"] != "two" || got["d"] != "" {
				t.Errorf("the folder holds %q, want the three files", got)
			}
		})
	}
}

func TestNoNameLeadsOutOfTheFolder(t *testing.T) {
	for _, name := range []string{"../x", "a/../../x", `..\x`, `C:\x`, ".", "..", "", strings.Repeat("d/", 40) + "x"} {
		bodies := packed(t, file{name: name, text: "evil"})
		bodies[name] = []byte("evil") // sent as it is
		for as, data := range bodies {
			around := t.TempDir()
			dir := filepath.Join(around, "in")
			must(t, os.Mkdir(dir, 0o700))
			if err := upload.Unpack(dir, as, bytes.NewReader(data)); !errors.Is(err, skein.ErrInvalid) {
				t.Errorf("Unpack of %q in %q = %v, want it refused as invalid", name, as, err)
			}
			if got := below(t, around); len(got) > 0 {
				t.Errorf("Unpack of %q in %q wrote %q", name, as, got)
			}
		}
	}
}

// Of two files with one name, either could be the one that was meant.
func TestAnArchiveThatIsBrokenOrHasANameTwiceIsRefused(t *testing.T) {
	for name, data := range packed(t, file{name: "x", text: "one"}, file{name: "x", text: "two"}) {
		if err := upload.Unpack(t.TempDir(), name, bytes.NewReader(data)); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Unpack of a %s with two files of one name = %v, want it refused as invalid", name, err)
		}
	}
	for name, data := range packed(t, file{name: "x", text: strings.Repeat("a long text ", 1000)}) {
		if err := upload.Unpack(t.TempDir(), name, bytes.NewReader(data[:len(data)/2])); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Unpack of half a %s = %v, want it refused as invalid", name, err)
		}
	}
}

// What was sent is unpacked elsewhere each time, and is the same file anyway.
func TestWhatIsSentAgainIsTheSameFileWhereverItIsUnpacked(t *testing.T) {
	whole := memory.New()
	defer whole.Close()
	hash := []byte{0xde, 0xad, 0xbe, 0xef, 0x01}
	first, again := filepath.Join(t.TempDir(), "1"), filepath.Join(t.TempDir(), "2")
	path := filepath.Join(first, "a", "b.jsonl")
	begun := skein.NewEvent(skein.KindCreated, 1, skein.Created{Origin: &skein.Origin{Format: "pi", Path: path}})
	_, err := upload.Store(whole, first, upload.Name(hash)).Append(t.Context(), skein.Batch{
		Session: "a", Events: []skein.Event{begun},
		Import: &skein.Import{File: skein.SourceFile{Format: "pi", Path: path, Session: "a", Size: 4, Offset: 4, Records: 1}, Records: []skein.Record{{Raw: []byte("{}\r\n"), Events: 1}}},
	})
	must(t, err)
	const stored = "upload:deadbeef/a/b.jsonl"
	if f, err := skein.SourcesOf(whole).File(t.Context(), "pi", stored); err != nil || f.Path != stored {
		t.Errorf("the store knows the file as %q (%v), want %s", f.Path, err, stored)
	}
	if s, err := whole.Session(t.Context(), "a"); err != nil || s.Origin == nil || s.Origin.Path != stored {
		t.Errorf("the session comes from %+v (%v), want %s", s.Origin, err, stored)
	}
	is, want := skein.SourcesOf(upload.Store(whole, again, upload.Name(hash))), filepath.Join(again, "a", "b.jsonl")
	if f, err := is.File(t.Context(), "pi", want); err != nil || f.Path != want {
		t.Errorf("File = %q, %v, want %s", f.Path, err, want)
	}
	var all []string
	for f, err := range is.Files(t.Context(), "pi") {
		must(t, err)
		all = append(all, f.Path)
	}
	if !slices.Equal(all, []string{want}) {
		t.Errorf("Files = %q, want %s", all, want)
	}
	var raw []string
	for r, err := range is.Records(t.Context(), "pi", want, 0) {
		must(t, err)
		raw = append(raw, string(r.Raw))
	}
	if !slices.Equal(raw, []string{"{}\r\n"}) {
		t.Errorf("Records = %q, want the one that was stored", raw)
	}
	if f, err := skein.SourcesOf(upload.Store(whole, again, upload.Name([]byte{1, 2, 3, 4}))).File(t.Context(), "pi", want); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("File after other content was sent = %q, %v, want it not found", f.Path, err)
	}
}
