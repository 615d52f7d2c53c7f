package cursor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop"
)

func TestPlacesAreThoseOfTheSystemAndItsSettings(t *testing.T) {
	root := filepath.VolumeName(t.TempDir())
	for system, c := range map[string][2]string{
		"linux":   {"XDG_CONFIG_HOME=/config", "/config/Cursor/User/globalStorage/state.vscdb"},
		"darwin":  {"CURSOR_CONFIG_DIR=/cursor", "/cursor/chats"},
		"windows": {"APPDATA=/roaming", "/roaming/Cursor/User/globalStorage/state.vscdb"},
	} {
		name, value, _ := strings.Cut(c[0], "=")
		env := func(asked string) string {
			if asked == name && value != "" {
				return root + filepath.FromSlash(value)
			}
			return ""
		}
		got := placesOn(system, interop.Home{Dir: root + filepath.FromSlash("/home/ada"), Env: env})
		if want := root + filepath.FromSlash(c[1]); !slices.Contains(got, want) {
			t.Errorf("placesOn(%s) with %q = %q, want %s among them", system, c[0], got, want)
		}
	}
}
