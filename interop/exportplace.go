package interop

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// below returns where under home a file or unit is to be written.
func (x *exporter) below(path string) string {
	path = filepath.ToSlash(plain(path))
	if x.format.Below != nil {
		if b := x.format.Below(path); b != "" && filepath.IsLocal(filepath.FromSlash(b)) {
			return b
		}
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// seen reports whether the program would find what it is written to as it was
// read from path. A file that was imported from a folder of its own lies, as it
// was, where no program looks.
func (x *exporter) seen(sess skein.Session, path string) bool {
	if len(x.o.Places) == 0 {
		return true
	}
	unit, _ := x.split(path)
	below := x.below(unit)
	return isIn(x.o.Places, filepath.Join(x.home, filepath.FromSlash(below))) && (x.format.Finds == nil || x.format.Finds(below, sess))
}

// isIn reports whether path is one of places or lies in one, or there are no
// places to lie in.
func isIn(places []string, path string) bool {
	return len(places) == 0 || slices.ContainsFunc(places, func(place string) bool {
		rel, err := filepath.Rel(place, path)
		if err == nil && !filepath.IsLocal(rel) { // a session in a database: its path and #ID
			at := strings.LastIndexByte(path, '#')
			return at >= 0 && path[:at] == place
		}
		return err == nil
	})
}
