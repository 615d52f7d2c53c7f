package redact

import "strings"

// placeholder reports whether v refers to a value elsewhere, or is an example.
func placeholder(v string) bool {
	low := strings.ToLower(v)
	if strings.ContainsAny(low[:1], "$%<{[(@#") {
		return true
	}
	for _, w := range []string{
		"${", "{{", "}}", "$(", "%(", "<", "example", "changeme", "change_me", "change-me", "your", "xxxx", "****", "....", "placeholder", "redacted",
		"dummy", "process.env", "os.environ", "getenv", "env.", "env(", "undefined", "insert", "replace", "sample", "todo", "0000000", "1234567890", "abcdefgh",
		"://", "…", "my-secret", "mysecret", "my_secret", "not-a-", "fake",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// code reports whether an unquoted value is an expression: a call, an index, a
// field selector.
func code(s string, v assigned) bool {
	if v.to < len(s) && (s[v.to] == '(' || s[v.to] == '[' || s[v.to] == '{') {
		return true
	}
	text := s[v.from:v.to]
	named := !strings.ContainsFunc(text, func(r rune) bool { return r > 'z' || !alnum(byte(r)) && r != '.' && r != '_' && r != ':' && r != '-' })
	return named && strings.Contains(text, ".") && wordy(text)
}

// password reports whether v may be a password that a person chose.
func password(v string) bool {
	if len(v) < 6 || len(v) > 256 || strings.ContainsAny(v, " \t") {
		return false
	}
	letters, digits, others := 0, 0, 0
	for i := range len(v) {
		switch b := v[i]; {
		case '0' <= b && b <= '9':
			digits++
		case alnum(b):
			letters++
		case b != '_' && b != '-' && b != '.' && b != '/' && b != ':' && b != ',':
			others++
		}
	}
	switch {
	case letters == 0 && others == 0: // a number, a date, a place in a file
		return digits == len(v) && digits >= 6
	case digits+others == 0:
		return random(v)
	case strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./"):
		return false
	}
	low := strings.ToLower(v)
	return !strings.HasPrefix(low, "password") && !strings.HasPrefix(low, "sha256:")
}

// random reports whether v looks as if a machine generated it: long, of letters
// and digits that make no words.
func random(v string) bool {
	if len(v) < 12 || len(v) > maxValue || strings.ContainsAny(v, " \t*?()[]{}|,;'") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "http") || strings.HasPrefix(v, "sha") {
		return false
	}
	if least := 3.0; entropy(v) < min(least, 0.72*log2(len(v))) {
		return false
	}
	return !wordy(v)
}

// digest reports whether v is random and consists of at least 14 letters,
// digits and characters of base64 and UUIDs.
func digest(v string) bool {
	if len(v) < 14 || len(v) > 200 {
		return false
	}
	for i := range len(v) {
		if !alnum(v[i]) && strings.IndexByte("_-=+/.", v[i]) < 0 {
			return false
		}
	}
	return random(v) && entropy(v) >= 2.8
}

func log2(n int) (bits float64) {
	for ; n > 1; n >>= 1 {
		bits++
	}
	return bits
}

// wordy reports whether v consists of words and small numbers, as names, paths
// and versions do.
func wordy(v string) bool {
	strange, whole := 0, 0
	for piece := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune("_-./:=+~@#", r) }) {
		whole += len(piece)
		if !isWord(piece) {
			strange += len(piece)
		}
	}
	return strange < 8 || strange*4 < whole
}

// isWord reports whether p, which has no separators, is a word, several
// capitalized words, or a small number.
func isWord(p string) bool {
	digits, turns, vowels, run, longest := 0, 0, 0, 0, 0
	for i := range len(p) {
		b := p[i]
		switch {
		case '0' <= b && b <= '9':
			digits++
			run = 0
		case strings.IndexByte("aeiouyAEIOUY", b) >= 0:
			vowels++
			run = 0
		default:
			run++
			longest = max(longest, run)
		}
		if i > 0 && class(b) != class(p[i-1]) {
			turns++
		}
	}
	letters := len(p) - digits
	switch {
	case letters == 0:
		return digits < 10
	case digits > 2 && digits*8 > len(p), digits > 4:
		return false
	case turns > 2+len(p)/4:
		return false
	}
	return letters < 8 || longest < 6 && vowels*6 >= letters
}

// class distinguishes lower case, upper case and the rest.
func class(b byte) int {
	switch {
	case 'a' <= b && b <= 'z':
		return 1
	case isUpper(b):
		return 2
	}
	return 3
}
