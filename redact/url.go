package redact

import "strings"

func urlRules() []secretRule { return []secretRule{{word: "://", find: urlPassword}} }

// urlPassword finds the password of scheme://user:password@host.
func urlPassword(s string, at, end int) []Secret {
	if at == 0 || !alnum(s[at-1]) {
		return nil
	}
	colon, to := -1, -1
	for i := end; i < len(s) && i-end < 300; i++ {
		b := s[i]
		if b == '@' {
			to = i
			continue // a password may have an unescaped @: the last one counts
		}
		if b == ':' && colon < 0 {
			colon = i
		}
		if b <= ' ' || b >= 0x7f || strings.IndexByte("/\"'`<>\\|^{}()?#,;", b) >= 0 {
			break
		}
	}
	if colon < 0 || to <= colon+1 {
		return nil
	}
	v := s[colon+1 : to]
	if len(v) < 3 || placeholder(v) || strings.EqualFold(v, "password") || strings.EqualFold(v, "pass") || strings.EqualFold(v, "pwd") || strings.EqualFold(v, "secret") {
		return nil
	}
	return []Secret{{"password", colon + 1, to}}
}
