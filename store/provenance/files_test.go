package provenance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein/store/provenance"
)

// written returns what WrittenBy says of the world's repository, a line a file.
func (w *world) written(most int) (files string, whole bool) {
	w.Helper()
	all, since, err := provenance.WrittenBy(w.Context(), w.store, provenance.WrittenQuery{Root: w.dir, Most: most})
	if err != nil {
		w.Fatal(err)
	}
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%s %d:", f.Path, f.Changes)
		for _, by := range f.By {
			fmt.Fprintf(&b, " %s %d", by.Session, by.Changes)
		}
		b.WriteString("\n")
	}
	return b.String(), since == 0
}

func TestTheFilesThatSessionsChanged(t *testing.T) {
	w := newWorld(t)
	w.write("one", "a.go", alpha)
	w.write("one", "sub/b.go", beta)
	w.edit("two", "a.go", alpha, alpha+gamma)
	w.edit("one", "a.go", gamma, delta)
	w.edit("two", "a.go", delta, gamma)
	w.call("three", "write", map[string]any{"path": filepath.Join(w.dir, "c.go"), "content": alpha}, "the disk is full", true)
	w.call("three", "write", map[string]any{"path": filepath.Join(t.TempDir(), "else.go"), "content": alpha}, "ok", false)
	w.call("three", "write", map[string]any{"path": "~/notes.md", "content": alpha}, "ok", false)
	w.call("three", "read", map[string]any{"path": filepath.Join(w.dir, "d.go")}, alpha, false)

	want := "a.go 4: two 2 one 2\nsub/b.go 1: one 1\n"
	if got, whole := w.written(100); got != want || !whole {
		t.Errorf("WrittenBy returns, all looked at: %v,\n%swant\n%s", whole, got, want)
	}
	want = "a.go 2: two 1 one 1\n"
	if got, whole := w.written(6); got != want || whole {
		t.Errorf("WrittenBy of 6 messages returns, all looked at: %v,\n%swant\n%s", whole, got, want)
	}
}
