package codex

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func testFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 5 {
		t.Fatalf("Glob(testdata) gives %d files and the error %v, want at least 5", len(files), err)
	}
	return files
}

func TestRolloutsBecomeTheEventsOfTheirGoldenFiles(t *testing.T) {
	for _, file := range testFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got := dump(readAll(t, filepath.Base(file), string(text)))
		golden := file + ".golden"
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("events of %s (-want +got):\n%s", file, diff)
		}
	}
}
