package redact

import "math"

// upTo returns the part of s from at on, at most n bytes of it.
func upTo(s string, at, n int) string { return s[at:min(len(s), at+n)] }

func alnum(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// begins reports whether a token may begin at s[at]: it is not the middle of a
// word, but for one that an escape such as \n of a quoted text makes.
func begins(s string, at int) bool {
	if at == 0 || !alnum(s[at-1]) {
		return true
	}
	return at > 1 && s[at-2] == '\\' && (s[at-1] == 'n' || s[at-1] == 't' || s[at-1] == 'r')
}

// ended reports whether a token may end before s[at].
func ended(s string, at int) bool { return at >= len(s) || !alnum(s[at]) }

// entropy returns the bits a byte that s has by how often its bytes occur.
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
