package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// headerRules returns the rules for credentials: Authorization headers,
// cookies, curl's -u, .netrc.
func headerRules() []secretRule {
	return []secretRule{
		{word: "authorization", find: authorization},
		{word: "bearer ", find: bearer},
		{word: "basic ", find: basic},
		{word: "cookie", find: cookie},
		{word: "curl ", find: curl()},
		{word: "machine ", find: netrc()},
	}
}

// authorization finds the credentials of an Authorization header of any scheme.
func authorization(s string, _, end int) []Secret {
	i, ok := operator(s, end)
	if !ok {
		return nil
	}
	i = spaces(s, i)
	for i < len(s) && (s[i] == '\\' || s[i] == '"' || s[i] == '\'') {
		i++
	}
	if word := valueEnd(s, i, 0); word < len(s) && s[word] == ' ' && word-i < 20 && isScheme(s[i:word]) {
		i = spaces(s, word)
	}
	to := valueEnd(s, i, 0)
	if to-i < 8 || placeholder(s[i:to]) || !password(s[i:to]) {
		return nil
	}
	return []Secret{{"authorization", i, to}}
}

func isScheme(w string) bool {
	return len(w) > 2 && !strings.ContainsFunc(w, func(r rune) bool { return !('a' <= r|0x20 && r|0x20 <= 'z') && r != '-' })
}

func bearer(s string, _, end int) []Secret {
	i := spaces(s, end)
	to := valueEnd(s, i, 0)
	if to-i < 16 || placeholder(s[i:to]) || !random(s[i:to]) {
		return nil
	}
	return []Secret{{"authorization", i, to}}
}

// basic finds a name and password in base64.
func basic(s string, _, end int) []Secret {
	i := spaces(s, end)
	to := valueEnd(s, i, 0)
	if to-i < 8 || to-i > 512 {
		return nil
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[i:to], "="))
	name, word, ok := strings.Cut(string(text), ":")
	if err != nil || !ok || name+word == "" || strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil
	}
	return []Secret{{"authorization", i, to}}
}

// cookie finds the values of a Cookie or Set-Cookie header that look random.
func cookie(s string, _, end int) (all []Secret) {
	if end >= len(s) || s[end] != ':' {
		return nil
	}
	line, _, _ := strings.Cut(upTo(s, end+1, longest), "\n")
	from := end + 1
	for pair := range strings.SplitSeq(line, ";") {
		name, _, ok := strings.Cut(pair, "=")
		at := from + len(name) + 1
		to := valueEnd(s, at, 0)
		if ok && to-at >= 16 && random(s[at:to]) && !placeholder(s[at:to]) {
			all = append(all, Secret{"cookie", at, to})
		}
		from += len(pair) + 1
	}
	return all
}

// curl finds the passwords of a curl command: those of -u and -U, and of their
// long names, anywhere in it.
func curl() findFunc {
	flag := sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\s(?:-[uU]|--user|--proxy-user)[ =]*(?:["'][^:"']{1,100}:([^"'\\\n]{3,100})|[^\s:"']{1,100}:([^\s"'\\;&|<>()]{3,100}))`)
	})
	return func(s string, _, end int) (all []Secret) {
		from := end - 1 // the space
		for _, m := range flag().FindAllStringSubmatchIndex(command(upTo(s, from, longest)), -1) {
			at, to := from+max(m[2], m[4]), from+max(m[3], m[5])
			if !named(s[at:to]) {
				all = append(all, Secret{"password", at, to})
			}
		}
		return all
	}
}

// command returns the rest of a curl command at the start of s: up to the end
// of a line without a continuing backslash, or to the next curl command, so
// that nothing is searched twice.
func command(s string) string {
	if n := strings.Index(s, "curl "); n >= 0 {
		s = s[:n]
	}
	for at := 0; ; at++ {
		n := strings.IndexByte(s[at:], '\n')
		if n < 0 {
			return s
		}
		if at += n; !strings.HasSuffix(strings.TrimSuffix(s[:at], "\r"), `\`) {
			return s[:at]
		}
	}
}

// netrc finds the password in a line of .netrc.
func netrc() findFunc {
	line := sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:machine) [^\s]+\s+login\s+[^\s]+\s+password\s+([^\s"'\\]{3,100})`)
	})
	return func(s string, at, _ int) []Secret {
		m := line().FindStringSubmatchIndex(upTo(s, at, 400))
		if m == nil || named(s[at+m[2]:at+m[3]]) {
			return nil
		}
		return []Secret{{"password", at + m[2], at + m[3]}}
	}
}

// named reports whether v is only a placeholder for a password.
func named(v string) bool {
	return len(v) < 4 || placeholder(v) || strings.EqualFold(v, "password")
}
