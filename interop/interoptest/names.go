package interoptest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// Names checks, for formats that are used together: a file's content decides its format.
// Every file that is recognized as one format's by its content is put under the names of
// all other formats' files. dirs is where each format's cases are, by its name.
func Names(t *testing.T, formats []interop.Format, dirs map[string]string) {
	all, paths := namedFiles(t, formats, dirs)
	for _, f := range all {
		t.Run(f.format+"/"+filepath.Base(f.path), func(t *testing.T) {
			t.Parallel()
			for _, as := range paths {
				if got := f.under(t, formats, as); got != f.format {
					t.Errorf("a file of %s (%s) called %s is taken for one of %q", f.format, f.path, as, got)
				}
			}
		})
	}
}

// A namedFile is a file that is one format's by its content.
type namedFile struct {
	format, path string
	data         []byte
}

// under returns the format that a file is taken for under another name.
func (f namedFile) under(t testing.TB, formats []interop.Format, as string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(root, as)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, at, f.data)
	if err := os.Chtimes(at, epoch, epoch); err != nil {
		t.Fatal(err)
	}
	return whose(t, formats, at)
}

// whose returns the format that takes a file, "" for none.
func whose(t testing.TB, formats []interop.Format, at string) string {
	t.Helper()
	store := memory.New()
	defer store.Close()
	found, _, err := discover.Find(t.Context(), store, formats, []string{at})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Format)
	}
	return strings.Join(names, " ")
}

// namedFiles returns the files that are one format's by their content, one of each kind
// of name in a format, and the names of all.
func namedFiles(t *testing.T, formats []interop.Format, dirs map[string]string) (all []namedFile, paths []string) {
	for _, f := range formats {
		dir := dirs[f.Name]
		if dir == "" {
			continue
		}
		var kinds, ends []string
		for _, path := range files(t, dir) {
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			case0, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			if strings.HasSuffix(case0, ".golden") || case0 == "fuzz" {
				continue
			}
			kind := case0 + filepath.Ext(rel)
			if _, packed := disk.PlainName(path); packed || slices.Contains(kinds, kind) {
				continue
			}
			kinds = append(kinds, kind)
			paths = append(paths, rel)
			n := namedFile{f.Name, rel, read(t, path)}
			if !slices.Contains(ends, filepath.Ext(rel)) && n.under(t, formats, "x") == f.Name { // one for each ending
				ends = append(ends, filepath.Ext(rel))
				all = append(all, n)
			}
		}
	}
	return all, paths
}

// Alone checks, for formats that are used together, that every file of their cases is
// recognized when the user names it where its program would not keep it: alone and
// under a name that says nothing. Its session is imported, or the reason that the report
// gives has the format's name; then --format imports it, unless it says that the file
// holds no conversation by itself. mute are the names of files whose content says
// nothing about their program.
func Alone(t *testing.T, formats []interop.Format, dirs map[string]string, mute func(path string) bool) {
	for _, f := range formats {
		dir := dirs[f.Name]
		if dir == "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			for i, path := range files(t, dir) {
				if testing.Short() && i%3 != 0 {
					continue
				}
				rel, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				rel = filepath.ToSlash(rel)
				_, packed := disk.PlainName(path)
				data := read(t, path)
				if strings.Contains(rel+"/", ".golden/") || strings.HasPrefix(rel, "fuzz/") || packed || len(data) == 0 || mute(rel) {
					continue
				}
				if what := (namedFile{f.Name, rel, data}).alone(t, formats, f); what != "" {
					t.Errorf("%s of %s, alone and called note: %s", rel, f.Name, what)
				}
			}
		})
	}
}

// alone returns what is wrong with the answer to the import of a file alone; "" for
// nothing.
func (n namedFile) alone(t *testing.T, formats []interop.Format, f interop.Format) string {
	t.Helper()
	took, why := n.named(t, formats)
	switch {
	case slices.Contains(took, n.format):
		return ""
	case len(took) > 0:
		return "it is imported as " + strings.Join(took, ", ")
	case !strings.Contains(why, " "+n.format+" "):
		return "the answer does not name the format: " + why
	case strings.Contains(why, "no conversation by itself"):
		return ""
	}
	if took, why = n.named(t, []interop.Format{f}); !slices.Contains(took, n.format) {
		return "the format's name does not help: " + why
	}
	return ""
}

// named imports a file alone, under a name that says nothing, and returns the formats of
// the sessions, and why there are none.
func (n namedFile) named(t *testing.T, formats []interop.Format) (took []string, why string) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "note")
	write(t, at, n.data)
	if err := os.Chtimes(at, epoch, epoch); err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	defer store.Close()
	rep, err := importer.Import(t.Context(), store, formats, []string{at}, interop.Options{Named: true})
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Origin != nil && !strings.Contains(s.Origin.Path, "#") {
			var b bytes.Buffer
			if err := writeback.WriteFile(t.Context(), store, s.Origin.Format, s.Origin.Path, &b); err != nil || !bytes.Equal(b.Bytes(), n.data) {
				t.Errorf("%s of %s, alone, as its source (%v):\n%.300s\nwant\n%.300s", n.path, n.format, err, b.Bytes(), n.data)
			}
		}
		if s.Origin == nil { // a log of skein's own holds events, which begin a session as they are
			took = append(took, "skein")
		} else if !slices.Contains(took, s.Origin.Format) {
			took = append(took, s.Origin.Format)
		}
	}
	for _, s := range rep.Skips {
		why += s.Why + "; "
	}
	return took, why
}
