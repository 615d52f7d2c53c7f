package disk

import (
	"fmt"
	"slices"
	"testing"
)

// A file that was copied or restored is younger than its last change; then only the
// change is known of its age.
func TestTheFileThatWasMadeFirstComesFirst(t *testing.T) {
	made := map[string]int64{"/went-on.jsonl": 10, "/fork.jsonl": 20, "/restored.jsonl": 90}
	cs := []File{{Path: "/restored.jsonl", Mtime: 5}, {Path: "/fork.jsonl", Mtime: 30}, {Path: "/went-on.jsonl", Mtime: 40}, {Path: "/unknown.jsonl", Mtime: 25}}
	ByAge(cs, func(path string) int64 { return made[path] })
	var got []string
	for _, c := range cs {
		got = append(got, c.Path)
	}
	if want := []string{"/restored.jsonl", "/went-on.jsonl", "/fork.jsonl", "/unknown.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("byAge gives %s, want %s", fmt.Sprint(got), fmt.Sprint(want))
	}
}
