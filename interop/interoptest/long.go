package interoptest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/memory"
)

// tooLong checks, for a format of documents: one that is longer than the limit is
// reported with its length, the limit and what to do, by an import and by [interop.Find],
// packed or not; nothing of it is imported.
func (s Suite) tooLong(t *testing.T) {
	name, data := s.document(t)
	if name == "" {
		return
	}
	data = append(data, filling(interop.MaxDocument)...)
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{name: data, name + ".zst": packer.EncodeAll(data, nil)} {
		root := filepath.Join(t.TempDir(), "x")
		at := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at, data)
		store := memory.New()
		defer store.Close()
		rep := s.bring(t, store, root)
		_, found, err := interop.Find(context.Background(), store, []interop.Format{s.Format}, []string{root})
		if err != nil {
			t.Fatal(err)
		}
		for what, rep := range map[string]interop.Report{"Import": rep, "Find": found} {
			if rep.Skipped != 1 || rep.Unmatched != 0 || rep.Sessions != 0 || len(rep.Skips) != 1 {
				t.Errorf("%s of %s with %d bytes = %+v, want it skipped", what, file, len(data), rep)
				continue
			}
			skip := rep.Skips[0]
			if filepath.Base(skip.Path) != filepath.Base(at) {
				t.Errorf("%s names %s, want %s", what, skip.Path, at)
			}
			for _, word := range []string{"50.3 MB", "split it"} {
				if !strings.Contains(skip.Why, word) {
					t.Errorf("%s of %s says %q, want %q in it", what, file, skip.Why, word)
				}
			}
		}
	}
}

// document returns a document of the first case that has one, and "" if the
// format has none.
func (s Suite) document(t *testing.T) (name string, data []byte) {
	t.Helper()
	if s.Format.Look == nil || len(s.Tables) > 0 {
		return "", nil
	}
	for _, c := range s.cases(t) {
		root := lay(t, filepath.Join(s.Dir, c))
		for _, f := range files(t, root) {
			data := read(t, f)
			if filepath.FromSlash(s.Format.Unit(filepath.ToSlash(f))) != f || isSQLite(data) {
				continue
			}
			rel, err := filepath.Rel(filepath.Dir(root), f)
			if err != nil {
				t.Fatal(err)
			}
			return rel, data
		}
	}
	return "", nil
}

// filling returns n bytes that can be packed well, but not so well that they are no
// longer taken for a session.
func filling(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{})
	for at := 0; at < n; at += 64 << 10 {
		_, _ = r.Read(b[at:min(n, at+1<<10)]) // it never fails
	}
	return b
}
