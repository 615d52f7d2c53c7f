package interoptest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// epoch is when the oldest file of a case was last changed.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// lay copies a case to a folder of its own and returns its path.
func lay(t testing.TB, from string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files(t, from) {
		write(t, placeFor(t, root, filepath.Dir(from), f), read(t, f))
	}
	touch(t, root, 0)
	return root
}

// placeFor returns where the file f below from is to be below root, and creates its
// folder.
func placeFor(t testing.TB, root, from, f string) string {
	t.Helper()
	rel, err := filepath.Rel(from, f)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(root, rel)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	return at
}

// touch sets the files' times, a minute apart in the order of their names.
func touch(t testing.TB, root string, hours int) {
	t.Helper()
	for i, f := range files(t, root) {
		at := epoch.Add(time.Duration(hours)*time.Hour + time.Duration(i)*time.Minute)
		if err := os.Chtimes(f, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// files returns the files at and under root, by name.
func files(t testing.TB, root string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
