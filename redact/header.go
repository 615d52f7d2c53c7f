package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// headerRules find what is shown at a door: Authorization headers, cookies,
// curl's -u, .netrc.
func headerRules() []rule {
	return []rule{
		{word: "authorization", find: authorization},
		{word: "bearer ", find: bearer},
		{word: "basic ", find: basic},
		{word: "cookie", find: cookie},
		{word: "curl ", find: curl()},
		{word: "machine ", find: netrc()},
	}
}

// authorization finds what an Authorization header carries, by whatever scheme.
func authorization(s string, at, end int) (Secret, bool) {
	i, ok := operator(s, end)
	if !ok {
		return Secret{}, false
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
		return Secret{}, false
	}
	return Secret{"authorization", i, to}, true
}

func isScheme(w string) bool {
	return len(w) > 2 && !strings.ContainsFunc(w, func(r rune) bool { return !('a' <= r|0x20 && r|0x20 <= 'z') && r != '-' })
}

func bearer(s string, _, end int) (Secret, bool) {
	i := spaces(s, end)
	to := valueEnd(s, i, 0)
	if to-i < 16 || placeholder(s[i:to]) || !random(s[i:to]) {
		return Secret{}, false
	}
	return Secret{"authorization", i, to}, true
}

// basic finds a name and password as base64.
func basic(s string, _, end int) (Secret, bool) {
	i := spaces(s, end)
	to := valueEnd(s, i, 0)
	if to-i < 8 || to-i > 512 {
		return Secret{}, false
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s[i:to], "="))
	name, word, ok := strings.Cut(string(text), ":")
	if err != nil || !ok || name+word == "" || strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' || r > '~' }) {
		return Secret{}, false
	}
	return Secret{"authorization", i, to}, true
}

// cookie finds the values of a Cookie or Set-Cookie header, from the first that
// looks random on.
func cookie(s string, _, end int) (Secret, bool) {
	if end >= len(s) || s[end] != ':' {
		return Secret{}, false
	}
	line, _, _ := strings.Cut(upTo(s, end+1, maxValue), "\n")
	from := end + 1
	for pair := range strings.SplitSeq(line, ";") {
		name, _, ok := strings.Cut(pair, "=")
		at := from + len(name) + 1
		to := valueEnd(s, at, 0)
		if ok && to-at >= 16 && random(s[at:min(to, len(s))]) && !placeholder(s[at:to]) {
			return Secret{"cookie", at, to}, true
		}
		from += len(pair) + 1
	}
	return Secret{}, false
}

// submatch returns a finder of what the group of an expression matches in the n
// bytes from the word on.
func submatch(kind Kind, expression string, n int) finder {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	return func(s string, at, _ int) (Secret, bool) {
		m := compile().FindStringSubmatchIndex(upTo(s, at, n))
		if m == nil {
			return Secret{}, false
		}
		v := s[at+m[2] : at+m[3]]
		return Secret{kind, at + m[2], at + m[3]}, !placeholder(v) && !strings.EqualFold(v, "password") && len(v) > 3
	}
}

func curl() finder {
	return submatch("password", `^(?i:curl)[ \n](?:[^\n]{0,400}?\s)?(?:-u|--user)[ =]*["']?[^\s:"']{1,100}:([^\s"'\\]{3,100})`, 600)
}

func netrc() finder {
	return submatch("password", `^(?i:machine) [^\s]+\s+login\s+[^\s]+\s+password\s+([^\s]{3,100})`, 400)
}
