package conninfo

import (
	"slices"
	"strings"
)

const space = " \t\n\r\v\f"

// Is reports whether text is such an address, judging by its first keyword. A file
// whose name looks like one can be named with its folder: ./host=x.
func Is(text string) bool {
	key, _, ok := strings.Cut(text, "=")
	key = strings.Trim(key, space)
	return ok && (strings.HasPrefix(key, "pool_") || slices.Contains(keywords(), key))
}

// keywords returns those that an address may begin with: libpq's, and pgx's own.
func keywords() []string {
	return []string{
		"host", "hostaddr", "port", "dbname", "database", "user", "password", "passfile", "service", "servicefile", "options",
		"sslmode", "sslcert", "sslkey", "sslpassword", "sslrootcert", "sslsni", "sslnegotiation", "channel_binding", "require_auth",
		"gssencmode", "krbsrvname", "krbspn", "connect_timeout", "client_encoding", "application_name", "fallback_application_name",
		"target_session_attrs", "search_path", "default_query_exec_mode", "statement_cache_capacity", "description_cache_capacity",
	}
}

// mask replaces a password.
const mask = "***"

// Masked returns text with *** in place of its passwords. What follows a syntax error
// may be anything, even a piece of a password: it is replaced by *** too, and whole
// is false.
func Masked(text string) (masked string, whole bool) {
	var b strings.Builder
	for rest := text; ; {
		lead := len(rest) - len(strings.TrimLeft(rest, space))
		b.WriteString(rest[:lead])
		if rest = rest[lead:]; rest == "" {
			return b.String(), true
		}
		key, after, ok := strings.Cut(rest, "=")
		name := strings.TrimRight(key, space)
		if !ok || name == "" || strings.ContainsAny(name, space) {
			b.WriteString(mask)
			return b.String(), false
		}
		gap := len(after) - len(strings.TrimLeft(after, space))
		end, ok := value(after[gap:])
		if !ok {
			b.WriteString(key + "=" + mask)
			return b.String(), false
		}
		b.WriteString(key + "=" + after[:gap])
		if strings.Contains(strings.ToLower(name), "pass") && name != "passfile" && end > 0 {
			b.WriteString(mask)
		} else {
			b.WriteString(after[gap : gap+end])
		}
		if rest = after[gap+end:]; rest != "" && !strings.ContainsRune(space, rune(rest[0])) {
			b.WriteString(mask) // no space after an apostrophe
			return b.String(), false
		}
	}
}

// value returns the end of the value that s begins with, and false if it has no end.
func value(s string) (end int, ok bool) {
	quoted := strings.HasPrefix(s, "'")
	if quoted {
		end = 1
	}
	for ; end < len(s); end++ {
		switch {
		case s[end] == '\\':
			end++
		case quoted && s[end] == '\'':
			return end + 1, true
		case !quoted && strings.IndexByte(space, s[end]) >= 0:
			return end, true
		}
	}
	return min(end, len(s)), !quoted
}
