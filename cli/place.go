package cli

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/skein-dev/skein/internal/conninfo"
)

// parsePlace reads what a person gave as the store: a path, sqlite: and a path,
// the address of a PostgreSQL database, as a URL or as keywords and values, or
// the URL of a server. A path is taken from the directory base; one that begins
// with ~/ from the home folder. ./host=x is a file.
func parsePlace(text, base, home string) (Place, error) {
	if conninfo.Is(text) {
		return Place{Scheme: "postgres", Path: text}, nil
	}
	path := text
	if scheme, rest, ok := strings.Cut(text, ":"); ok && isScheme(scheme) {
		if isServer(scheme) && strings.HasPrefix(rest, "//") {
			return Place{Scheme: scheme, Path: text}, nil
		}
		if isDatabase(scheme) && strings.HasPrefix(rest, "//") {
			return Place{Scheme: "postgres", Path: text}, nil
		}
		if scheme != "sqlite" {
			return Place{}, usagef("store %q: unknown scheme %q; want a path, sqlite:PATH, postgres://HOST/DATABASE or https://HOST:PORT", withoutPassword(text), scheme)
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

// isDatabase reports whether a scheme is that of a database of PostgreSQL.
func isDatabase(scheme string) bool {
	return slices.Contains([]string{"postgres", "postgresql"}, scheme)
}

// atServer reports whether a place, as a person writes it, is a server, be it
// ours or a database's.
func atServer(text string) bool {
	p, err := parsePlace(text, "", "")
	return err == nil && p.file() == ""
}

// file returns the path of the store's file; "" if a server or a database has
// it.
func (p Place) file() string {
	if isServer(p.Scheme) || isDatabase(p.Scheme) {
		return ""
	}
	return p.Path
}

// String returns where the store is, for people: without the password that an
// address may have in it.
func (p Place) String() string { return withoutPassword(p.Path) }

// inQuery is a password in the part of an address behind the question mark.
var inQuery = regexp.MustCompile(`(?i)([?&](?:ssl)?password=)[^&]*`)

// withoutPassword returns the address of a server or a database with *** in
// place of the password in it. It takes addresses apart that net/url does not
// know: those of several hosts.
func withoutPassword(address string) string {
	if conninfo.Is(address) {
		masked, _ := conninfo.Masked(address)
		return masked
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	// A password may have a slash or an @ in it that should have been escaped.
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		if name, _, ok := strings.Cut(rest[:i], ":"); ok {
			rest = name + ":***" + rest[i:]
		}
	}
	return scheme + "://" + inQuery.ReplaceAllString(rest, "${1}***")
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
