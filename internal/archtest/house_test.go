package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// private finds paths that exist on one machine only.
var private = regexp.MustCompile(`(^|[^\w.~*/-])/work/|\.\./shared\b`)

// A committed file must mean the same on every machine. Only the script that CI runs
// may name the folder of the corpora.
func TestNoFileNamesOneMachine(t *testing.T) {
	exempt := []string{".ci/run", "Makefile", "internal/archtest/house_test.go"}
	walk(t, func(name string) {
		if slices.Contains(exempt, name) || filepath.Ext(name) == ".db" {
			return
		}
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || info.Size() > 4<<20 {
			return
		}
		text := read(t, name)
		if strings.IndexByte(text[:min(len(text), 8192)], 0) >= 0 {
			return
		}
		n := 0
		for line := range strings.Lines(text) {
			if n++; private.MatchString(line) {
				t.Errorf("%s:%d names a path of one machine: %.120q", name, n, strings.TrimSpace(line))
			}
		}
	})
}

// A file that grows past 250 lines usually has two subjects. This test only
// lists them: go test -v -run TestLongFiles ./internal/archtest
func TestLongFiles(t *testing.T) {
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > 250 && !s.test() {
			t.Logf("%s has %d lines", s.name, n)
		}
	}
}
