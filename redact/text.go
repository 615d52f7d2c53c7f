package redact

import "math"

// upTo returns at most n bytes of s from at on.
func upTo(s string, at, n int) string { return s[at:min(len(s), at+n)] }

func alnum(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// begins reports whether a token may begin at s[at]: not in the middle of a
// word, except after an escape such as \n in a quoted text.
func begins(s string, at int) bool {
	if at == 0 || !alnum(s[at-1]) {
		return true
	}
	return at > 1 && s[at-2] == '\\' && (s[at-1] == 'n' || s[at-1] == 't' || s[at-1] == 'r')
}

// ended reports whether a token may end before s[at].
func ended(s string, at int) bool { return at >= len(s) || !alnum(s[at]) }

// maxSpelled is how much of a text spelled examines, in bytes.
const maxSpelled = 64

// spelled reports whether s[at:] begins with a name of several words, as in
// code, files and metrics: generated keys do not consist of words of one case
// with separators.
func spelled(s string, at int) bool {
	separators, lower, upper, to := 0, false, false, at
	for ; to < len(s) && to-at < maxSpelled; to++ {
		switch b := s[to]; {
		case b == '_' || b == '-' || b == '.':
			separators++
			continue
		case isUpper(b):
			upper = true
		case 'a' <= b && b <= 'z':
			lower = true
		}
		if !alnum(s[to]) {
			break
		}
	}
	v := s[at:to]
	return separators >= 2 && !(lower && upper) && wordy(v) && entropy(v) > 2.5
}

// leastEncoded is the minimum length of base64, in bytes, in which a token's
// prefix occurs by chance: an image or another file.
const leastEncoded = 512

// encoded reports whether s[at] is in the middle of a base64-encoded file.
func encoded(s string, at int) bool {
	if at < leastEncoded {
		return false
	}
	for i := at - leastEncoded; i < at; i++ {
		if b := s[i]; !alnum(b) && b != '+' && b != '/' && b != '\n' && b != '\r' && b != '\\' {
			return false
		}
	}
	return true
}

// entropy returns the bits per byte of s, from the frequencies of its bytes.
func entropy(s string) (bits float64) {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
