package lines

import (
	"bytes"
	"errors"
	"io"
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
	out.Grow(unquotedLen(b))
	ok := unquote(&out, b)
	return out.String(), ok
}

// unquotedLen returns how long [Unquote]'s result is, or a little more: what is quoted
// may be six times as long.
func unquotedLen(b []byte) int {
	n := len(b)
	if n < longText {
		return n
	}
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		if n--; bytes.HasPrefix(b[i+1:], []byte("u00")) {
			n -= len("u0000") - len("\u00e9")
		}
		i++
	}
	return max(0, n)
}

// buffer is [strings.Builder] or [bytes.Buffer], whose errors are always nil.
type buffer interface {
	io.Writer
	io.ByteWriter
	WriteRune(r rune) (int, error)
}

//nolint:errcheck // the errors of a buffer are always nil
func unquote(out buffer, b []byte) bool {
	done := 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		if c != '\\' || i+1 == len(b) {
			return false
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
				return false
			}
			out.WriteRune(rune(r))
			i += 4
		default:
			return false
		}
		done = i + 1
	}
	out.Write(b[done:])
	return true
}

// ErrQuoted says that bytes are not what [Unquote] takes.
var ErrQuoted = errors.New("no JSON string")

// pieceLen is about how many bytes of a string are unquoted at once.
const pieceLen = 64 << 10

// WriteUnquoted writes what [Unquote] returns to w in pieces, without holding all of
// it.
//
// The error is ErrQuoted if Unquote returns false, or w's.
func WriteUnquoted(w io.Writer, b []byte) error {
	var text bytes.Buffer
	for len(b) > 0 {
		n := piece(b)
		text.Reset()
		if !unquote(&text, b[:n]) {
			return ErrQuoted
		}
		if _, err := w.Write(text.Bytes()); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// piece returns where the first piece of a string ends: not within an escape.
func piece(b []byte) (n int) {
	for n < min(len(b), pieceLen) {
		switch {
		case b[n] != '\\' || n+1 == len(b):
			n++
		case b[n+1] == 'u':
			n += len(`\u0000`)
		default:
			n += len(`\n`)
		}
	}
	return min(n, len(b))
}
