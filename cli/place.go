package cli

import (
	"path/filepath"
	"strings"
)

// parsePlace reads what a person gave as the store: a path, or sqlite: and a
// path. A path is taken from the directory base; one that begins with ~/ from
// the home folder.
func parsePlace(text, base, home string) (Place, error) {
	path := text
	if scheme, rest, ok := strings.Cut(text, ":"); ok && isScheme(scheme) {
		if scheme != "sqlite" {
			return Place{}, usagef("store %q: unknown scheme %q; want a path or sqlite:PATH", text, scheme)
		}
		path = strings.TrimPrefix(rest, "//")
	}
	if path == "" {
		return Place{}, usagef("store %q: it names no file", text)
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return Place{Scheme: "sqlite", Path: filepath.Clean(path)}, nil
}

// isScheme reports whether s, before a colon, is a scheme and not a drive of
// Windows or a piece of a path.
func isScheme(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' {
			return false
		}
	}
	return len(s) > 1
}
