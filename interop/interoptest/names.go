package interoptest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
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
	found, _, err := interop.Find(t.Context(), store, formats, []string{at})
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
			if _, packed := interop.PlainName(path); packed || slices.Contains(kinds, kind) {
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
