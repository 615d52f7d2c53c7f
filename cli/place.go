package cli

import (
	"path/filepath"
	"slices"
	"strings"
)

// parsePlace reads what a person gave as the store: a path, sqlite: and a path,
// or the URL of a server. A path is taken from the directory base; one that
// begins with ~/ from the home folder.
func parsePlace(text, base, home string) (Place, error) {
	path := text
	if scheme, rest, ok := strings.Cut(text, ":"); ok && isScheme(scheme) {
		if isServer(scheme) && strings.HasPrefix(rest, "//") {
			return Place{Scheme: scheme, Path: text}, nil
		}
		if scheme != "sqlite" {
			return Place{}, usagef("store %q: unknown scheme %q; want a path, sqlite:PATH or https://HOST:PORT", text, scheme)
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

// isServer reports whether a scheme is that of a server.
func isServer(scheme string) bool { return slices.Contains([]string{"https", "http"}, scheme) }

// atServer reports whether a place, as a person writes it, is a server.
func atServer(text string) bool {
	p, err := parsePlace(text, "", "")
	return err == nil && p.file() == ""
}

// file returns the path of the store's file; "" if a server has it.
func (p Place) file() string {
	if isServer(p.Scheme) {
		return ""
	}
	return p.Path
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
