package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheGoExamplesRun compiles each Go program that the README and docs/ show,
// as somebody who copies it does, and runs the README's.
func TestTheGoExamplesRun(t *testing.T) {
	walk(t, func(name string) {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "integrations/") { // a module of its own tests its README
			return
		}
		rest := read(t, name)
		for n := 1; ; n++ {
			_, block, found := strings.Cut(rest, "\n```go\n")
			if !found {
				return
			}
			block, rest, _ = strings.Cut(block, "\n```")
			compile(t, name, n, block)
		}
	})
}

func compile(t *testing.T, name string, n int, program string) {
	t.Helper()
	dir := t.TempDir()
	source, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "example")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, source)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%s: Go example %d: %v\n%s", name, n, err, out)
		return
	}
	if name != "README.md" {
		return
	}
	run := exec.CommandContext(t.Context(), bin)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil || string(out) != "2 <nil>\n" {
		t.Errorf("%s: Go example %d prints %q (%v), want that its event is the session's second", name, n, out, err)
	}
}
