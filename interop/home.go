package interop

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/interop/disk"
)

// HomeOf returns the folder in which f's program keeps its files, absolute, as the
// home for [writeback.Export]: the paths that Format.Places returns are in it. It is "" if the
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

// A Place is where a format's program keeps sessions.
type Place struct {
	Path     string // absolute
	Variable string // the environment variable that says so; "" for the usual place
}

// PlacesOf returns what Format.Places returns, and which environment variables it
// reads: those that could name another place.
func PlacesOf(f Format, h Home) (places []Place, asked []string) {
	named := map[string]string{} // by variable
	env := h.Env
	h.Env = func(name string) string {
		value := env(name)
		if !slices.Contains(asked, name) {
			asked = append(asked, name)
		}
		if value != "" {
			named[name] = filepath.Clean(value)
		}
		return value
	}
	for _, path := range f.Places(h) {
		p := Place{Path: path}
		for _, name := range asked { // the longest path is the most specific
			if at := named[name]; at != "" && len(at) > len(named[p.Variable]) && (at == path || disk.Within(at, path)) {
				p.Variable = name
			}
		}
		places = append(places, p)
	}
	return places, asked
}
