package jsonl

import "bytes"

// value returns the end of the JSON object or array that b begins with, and how deep
// it is nested; ok is false if it does not end in b. It checks only brackets and
// quotes: what is inside need not be JSON.
func value(b []byte) (end, depth int, ok bool) {
	open := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := quoted(b[i:])
			if n == 0 {
				return 0, depth, false
			}
			i += n - 1
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			if open--; open == 0 {
				return i + 1, depth, true
			}
		}
	}
	return 0, depth, false
}

// quoted returns the length of the string that b begins with, including its quotes,
// or 0 if it does not end in b.
func quoted(b []byte) int {
	for i := 1; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return 0
}

// maxTries limits how many beginnings salvage tries, so that a hostile line cannot
// keep it busy.
const maxTries = 512

// salvage returns the offset in line, after its first byte, of a whole object that
// ends with the line, or len(line) if there is none.
func salvage(line []byte) int {
	at := 1
	for range maxTries {
		if at >= len(line) {
			break
		}
		n := bytes.Index(line[at:], []byte(`{"`))
		if n < 0 {
			break
		}
		at += n
		if end, _, ok := value(line[at:]); ok && (blank(line[at+end:]) || line[at+end] == '{') {
			return at
		}
		at++
	}
	return len(line)
}

var bom = []byte("\xef\xbb\xbf")

// leading returns how many bytes at the start of b are separators, and how many of
// these are NUL.
func leading(b []byte) (n, nuls int) {
	for n < len(b) {
		switch c := b[n]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			n++
		case c == 0:
			n, nuls = n+1, nuls+1
		case bytes.HasPrefix(b[n:], bom):
			n += len(bom)
		default:
			return n, nuls
		}
	}
	return n, nuls
}

func blank(b []byte) bool {
	n, _ := leading(b)
	return n == len(b)
}
