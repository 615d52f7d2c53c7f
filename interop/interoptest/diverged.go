package interoptest

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// diverged checks: a copy of what was imported that has gone another way, wherever it
// did, is shown whole: what it has in common with the other, and what only it has.
func (s Suite) diverged(t *testing.T, name string) {
	from := filepath.Join(s.Dir, name)
	one := lay(t, from)
	apart := memory.New()
	defer apart.Close()
	s.bring(t, apart, one)
	for _, text := range spread(plainTexts(said(t, apart)), 3) {
		other := lay(t, from)
		if !otherwise(t, other, text) {
			continue
		}
		touch(t, other, 1)
		alone, both := memory.New(), memory.New()
		s.bring(t, alone, other)
		s.bring(t, both, one)
		s.bring(t, both, other)
		for _, f := range sourcesOf(t, alone) {
			got, err := both.File(t.Context(), f.Format, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			id := got.Session
			if id == "" {
				id = got.CopyOf
			}
			if f.Session == "" || id == "" {
				continue
			}
			if diff := cmp.Diff(strings.Split(Shown(t, alone, f.Session), "\n"), strings.Split(Shown(t, both, id), "\n")); diff != "" {
				t.Errorf("%s, where %q is said otherwise, imported after what it is a copy of (-alone +%s):\n%s", name, text, id, diff)
			}
		}
		both.Close()
		alone.Close()
	}
}

// otherwise says a text otherwise in all files below root. It returns false if no file
// has it.
func otherwise(t *testing.T, root, text string) (some bool) {
	t.Helper()
	change := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(text), []byte(text+" otherwise")) }
	for _, f := range files(t, root) {
		data := read(t, f)
		is, ok := eachText(t, data, change)
		if !isSQLite(data) {
			is, ok = differs(data, change(data))
		}
		if ok {
			write(t, f, is)
			some = true
		}
	}
	return some
}

// plainTexts returns the texts that look the same in JSON, each once.
func plainTexts(said []string) (all []string) {
	for _, text := range said {
		_, text, _ = strings.Cut(text, " text ")
		if len(text) >= 4 && len(text) < 200 && !strings.ContainsAny(text, "\\\"<>&\n\t") && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// spread returns n of all, from the first to the last.
func spread(all []string, n int) (some []string) {
	if len(all) <= n {
		return all
	}
	for i := range n {
		some = append(some, all[i*(len(all)-1)/(n-1)])
	}
	return some
}

func sourcesOf(t *testing.T, s *memory.Store) (all []skein.SourceFile) {
	t.Helper()
	for f, err := range s.Files(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}
