package cline

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestPlacesAreThoseOfTheSystem(t *testing.T) {
	dir := t.TempDir()
	roaming := filepath.Join(dir, "AppData", "Roaming")
	for system, config := range map[string]string{
		"linux": filepath.Join(dir, ".config"), "darwin": filepath.Join(dir, "Library", "Application Support"), "windows": roaming,
	} {
		kilo := filepath.Join(config, "Windsurf", "User", "globalStorage", "kilocode.kilo-code")
		if err := os.MkdirAll(kilo, 0o700); err != nil {
			t.Fatal(err)
		}
		got := placesOn(system, interop.Home{Dir: dir, Env: func(name string) string { return map[string]string{"APPDATA": roaming}[name] }})
		for _, want := range []string{
			filepath.Join(config, "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "tasks"),
			filepath.Join(kilo, "tasks"),
			filepath.Join(dir, ".cline", "data", "sessions"),
		} {
			if !slices.Contains(got, want) {
				t.Errorf("placesOn(%s) = %q, want %s among them", system, got, want)
			}
		}
		if len(got) != 5 {
			t.Errorf("placesOn(%s) = %q, want those that are there and the usual ones", system, got)
		}
	}
	other := filepath.Join(dir, "other")
	got := placesOn("linux", interop.Home{Dir: dir, Env: func(name string) string { return map[string]string{"CLINE_DIR": other}[name] }})
	if want := filepath.Join(other, "data", "tasks"); !slices.Contains(got, want) {
		t.Errorf("placesOn with CLINE_DIR = %q, want %s among them", got, want)
	}
}
