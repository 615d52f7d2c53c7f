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

// maxSpelled is how much of a text is looked at to tell what it spells, in bytes.
const maxSpelled = 64

// spelled reports whether a name of several words stands at s[at:], as code,
// files and metrics have: no machine draws letters of one case with separators
// that make words.
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

// leastEncoded is how long base64 is at least, in bytes, in which the letters of
// a token's prefix stand by chance: an image or another file.
const leastEncoded = 512

// encoded reports whether what stands at s[at] is in the middle of a file in
// base64.
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
