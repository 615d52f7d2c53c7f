package interop

import (
	"path/filepath"
	"strings"
)

// HomeOf returns the folder that f's program keeps its files in, absolute, to
// [Export] to: such that what Format.Places says lies in it. It is "" where the
// format has no usual place.
func HomeOf(f Format, h Home) string {
	for _, place := range f.Places(h) {
		at := filepath.ToSlash(place)
		if f.Below == nil {
			return place
		}
		for _, file := range []string{at, at + "/x"} {
			below := f.Below(file)
			if home, ok := strings.CutSuffix(file, "/"+below); ok && below != "" && home != at {
				return filepath.FromSlash(home)
			}
		}
	}
	return ""
}
