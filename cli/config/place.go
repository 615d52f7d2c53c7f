package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/internal/conninfo"
)

// ParsePlace parses the address of a store: a path, sqlite: and a path, the address
// of a PostgreSQL database as a URL or as keywords and values, or the URL of a
// server. A path is relative to the directory base; one that begins with ~/, to the
// home folder. ./host=x is a file.
//
// The error wraps fault.ErrUsage and names the address.
func ParsePlace(text, base, home string) (Place, error) {
	if conninfo.Is(text) {
		return Place{Scheme: "postgres", Path: text}, nil
	}
	path := text
	if scheme, rest, ok := strings.Cut(text, ":"); ok && isScheme(scheme) {
		if IsServer(scheme) && strings.HasPrefix(rest, "//") {
			return Place{Scheme: scheme, Path: text}, nil
		}
		if IsDatabase(scheme) && strings.HasPrefix(rest, "//") {
			return Place{Scheme: "postgres", Path: text}, nil
		}
		if scheme != "sqlite" {
			return Place{}, fault.Usage("store %q: unknown scheme %q; want a path, sqlite:PATH, postgres://HOST/DATABASE or https://HOST:PORT", withoutPassword(text), scheme)
		}
		path = strings.TrimPrefix(rest, "//")
	}
	if path == "" {
		return Place{}, fault.Usage("store %q: no file name", text)
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return Place{Scheme: "sqlite", Path: filepath.Clean(path)}, nil
}

// IsServer reports whether a scheme is that of a skein server.
func IsServer(scheme string) bool { return slices.Contains([]string{"https", "http"}, scheme) }

// IsDatabase reports whether a scheme is that of a PostgreSQL database.
func IsDatabase(scheme string) bool {
	return slices.Contains([]string{"postgres", "postgresql"}, scheme)
}

// atServer reports whether text, as a person writes it, is the address of a skein
// server or a database server.
func atServer(text string) bool {
	p, err := ParsePlace(text, "", "")
	return err == nil && p.File() == ""
}

// File returns the path of the store's file; "" if the store is a server or a
// database.
func (p Place) File() string {
	if IsServer(p.Scheme) || IsDatabase(p.Scheme) {
		return ""
	}
	return p.Path
}

// String returns the address of the store for people: without the password or
// token that it may contain.
func (p Place) String() string { return withoutPassword(p.Path) }

// Exposed returns an error wrapping fault.ErrUsage if the address of the store has a
// password or a token in it and stood on the command line, as the value of what: every
// user of the machine can read it there.
func (p Place) Exposed(what string) error {
	if p.File() != "" || p.String() == p.Path {
		return nil
	}
	if IsServer(p.Scheme) {
		return fault.Advise(fault.Usage("%s %s: everybody on this machine can read a token on the command line", what, p), "put it into SKEIN_TOKEN, or into a file that token_file in config.toml names")
	}
	advice := "put it into PGPASSWORD or ~/.pgpass"
	if what == "--store" { // the only one that a variable can stand for
		advice += ", or the whole address into SKEIN_STORE"
	}
	return fault.Advise(fault.Usage("%s %s: everybody on this machine can read a password on the command line", what, p), "%s", advice)
}

// behind matches a password or a token in the query part of an address, and what stands
// after #, where somebody may have put one.
var behind = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)([?&](?:(?:ssl)?password|token)=)[^&#]*|(#).+`)
})

// withoutPassword returns the address of a server or a database with *** in place
// of the password or token. It also handles addresses that net/url cannot parse: those
// with several hosts.
func withoutPassword(address string) string {
	if conninfo.Is(address) {
		masked, _ := conninfo.Masked(address)
		return masked
	}
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	// A password may contain a slash or an @ that should have been escaped.
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		if name, _, ok := strings.Cut(rest[:i], ":"); ok {
			rest = name + ":***" + rest[i:]
		}
	}
	return scheme + "://" + behind().ReplaceAllString(rest, "${1}${2}***")
}

// isScheme reports whether s, the text before a colon, is a scheme and not a
// Windows drive or part of a path.
func isScheme(s string) bool {
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '+' {
			return false
		}
	}
	return len(s) > 1
}
