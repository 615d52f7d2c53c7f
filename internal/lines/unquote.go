package lines

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// Unquote returns the value of the JSON string whose bytes between the quotes are b,
// which is valid UTF-8. It returns false if that is not a JSON string, or has half of
// a surrogate pair of \u escapes, which is left to [encoding/json]: that takes more
// time, and the memory of the text twice.
func Unquote(b []byte) (string, bool) {
	var out strings.Builder
	out.Grow(len(b))
	done := 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c != '\\' || i+1 == len(b) {
			return "", false
		}
		out.Write(b[done:i])
		i++
		switch b[i] {
		case '"', '\\', '/':
			done = i // the backslash is left out, the character is kept
			continue
		case 'n':
			out.WriteByte('\n')
		case 't':
			out.WriteByte('\t')
		case 'r':
			out.WriteByte('\r')
		case 'b':
			out.WriteByte('\b')
		case 'f':
			out.WriteByte('\f')
		case 'u':
			r, err := strconv.ParseUint(string(b[i+1:min(len(b), i+5)]), 16, 16)
			if err != nil || i+5 > len(b) || utf16.IsSurrogate(rune(r)) {
				return "", false
			}
			out.WriteRune(rune(r))
			i += 4
		default:
			return "", false
		}
		done = i + 1
	}
	out.Write(b[done:])
	return out.String(), true
}
