package skein

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// MaxTitle is the length of the longest title that can be given here, in
// characters. Titles that another program gave are kept whole.
const MaxTitle = 200

// ShortTitle returns title on one line in at most [MaxTitle] characters, with … if
// it was shortened.
func ShortTitle(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if r := []rune(title); len(r) > MaxTitle {
		title = string(r[:MaxTitle-1]) + "…"
	}
	return title
}

// Text is a string that keeps lone surrogates, which the JSON of other programs may
// have and which Go's encoding/json replaces: \ud800 is kept as the three bytes that
// UTF-8 would give it (ED A0 80; the encoding is called WTF-8) and marshaled as
// \ud800 again. Everything else is UTF-8.
type Text string

// MarshalJSON implements [json.Marshaler]. It escapes only what JSON requires: the
// quote, the backslash, characters below 0x20, lone surrogates. Bytes that are not
// WTF-8 become U+FFFD; [Text.Valid] reports whether there are any.
func (t Text) MarshalJSON() ([]byte, error) { return AppendQuoted(nil, string(t)), nil }

// AppendQuoted appends s, which is WTF-8, to b as a JSON string.
func AppendQuoted(b []byte, s string) []byte {
	if least := len(s) + 2; cap(b)-len(b) < least || len(s) >= longText {
		n := least + len(s)/8 // about what escaped line feeds and quotes in code take
		if len(s) >= longText {
			n = QuotedLen(s)
		}
		b = slices.Grow(b, n)
	}
	b = append(b, '"')
	raw := unsafe.Slice(unsafe.StringData(s), len(s))
	done := 0
	for i := 0; ; {
		if i += plain(raw[i:]); i == len(s) {
			break
		}
		c := s[i]
		if c < utf8.RuneSelf {
			b = appendEscape(append(b, s[done:i]...), c)
			i++
			done = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		b = append(b, s[done:i]...)
		if sur, ok := surrogate(s[i:]); ok {
			b = appendHex(b, sur)
			i += 3
		} else {
			b = append(b, "\ufffd"...)
			i++
		}
		done = i
	}
	return append(append(b, s[done:]...), '"')
}

// longText is the length, in bytes, from which a text's JSON is written and read into
// memory of exactly the size that it takes.
const longText = 1 << 20

// QuotedLen returns how many bytes [AppendQuoted] appends.
func QuotedLen(s string) int {
	n := 2
	var escape [6]byte
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if i++; c >= ' ' && c != '"' && c != '\\' {
				n++
			} else {
				n += len(appendEscape(escape[:0], c))
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch _, lone := surrogate(s[i:]); {
		case r != utf8.RuneError || size > 1:
			n += size
		case lone:
			n, size = n+len(escape), 3
		default:
			n += len("\ufffd")
		}
		i += size
	}
	return n
}

// unquotedLen returns about how many bytes the string b has that [Unquote] reads: if b
// is UTF-8, hardly fewer, and no more.
func unquotedLen(b []byte) int {
	n := len(b)
	if n < longText {
		return n
	}
	for i := bytes.IndexByte(b, '\\'); i >= 0 && i+1 < len(b); {
		if r, ok := hex4(b[i:]); ok {
			n -= len(`\uffff`) - len(string(r)) // a surrogate counts as U+FFFD, which is as long
			i += len(`\uffff`)
		} else {
			i += 2
			n--
		}
		next := bytes.IndexByte(b[min(i, len(b)):], '\\')
		if next < 0 {
			break
		}
		i += next
	}
	return max(n, 0)
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return appendHex(b, rune(c))
}

// appendHex appends r, of 16 bits, as \uxxxx.
func appendHex(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// surrogate returns the surrogate that s begins with, in its three bytes.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xe0 != 0xa0 || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// Valid reports whether t is WTF-8, so that JSON keeps all of it.
func (t Text) Valid() bool {
	s := string(t)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			if _, ok := surrogate(s); !ok {
				return false
			}
			n = 3
		}
		s = s[n:]
	}
	return true
}

// UTF8 returns t with U+FFFD in place of each lone surrogate, for people and
// indexes.
func (t Text) UTF8() string {
	if utf8.ValidString(string(t)) {
		return string(t)
	}
	var b []byte
	for s := string(t); len(s) > 0; {
		r, n := utf8.DecodeRuneInString(s)
		if _, ok := surrogate(s); ok {
			n = 3
		}
		b = utf8.AppendRune(b, r)
		s = s[n:]
	}
	return string(b)
}

// UnmarshalJSON implements [json.Unmarshaler]. null leaves t unchanged.
//
// The error wraps [ErrInvalid] if b is not a JSON string.
func (t *Text) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	s, ok := Unquote(b)
	if !ok {
		return Invalidf("text: want a JSON string, got %.20q", b)
	}
	*t = Text(s)
	return nil
}

// Unquote returns the value of the JSON string b, which has its quotes, in WTF-8.
// It returns false if b is not a JSON string. Bytes that are not UTF-8 become U+FFFD.
func Unquote(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return "", false
	}
	b = b[1 : len(b)-1]
	if plain(b) == len(b) {
		return string(b), true
	}
	var out strings.Builder // does not copy its string
	out.Grow(unquotedLen(b))
	var char [utf8.UTFMax]byte
	for len(b) > 0 {
		if n := plain(b); n > 0 {
			out.Write(b[:n])
			b = b[n:]
			continue
		}
		switch c := b[0]; {
		case c == '\\':
			r, n := unescape(b)
			if n == 0 {
				return "", false
			}
			out.Write(appendWTF8(char[:0], r))
			b = b[n:]
		case c < ' ', c == '"':
			return "", false
		default:
			r, n := utf8.DecodeRune(b)
			out.WriteRune(r)
			b = b[n:]
		}
	}
	return out.String(), true
}

// plain returns how many bytes at the start of b are ASCII without escapes.
func plain(b []byte) int {
	i := 0
	for ; len(b)-i >= 8; i += 8 { // eight bytes at once: most text is long
		const each, high = 0x0101010101010101, 0x8080808080808080
		w := binary.LittleEndian.Uint64(b[i:])
		// The high bit of a byte is set if the byte is below ' ', a quote, a backslash
		// or not ASCII. A borrow can set it only in the bytes after such a one.
		special := (w - ' '*each) | (w ^ '"'*each - each) | (w ^ '\\'*each - each) | w
		if special &= high; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// literals yields the strings in b, which is JSON, in order, with their quotes, and
// whether each is a name in an object.
func literals(b []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		for i := 0; i < len(b); {
			n := bytes.IndexByte(b[i:], '"')
			if n < 0 {
				return
			}
			i += n
			end := literalEnd(b, i)
			literal := b[i:end]
			for i = end; i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n'); {
				i++
			}
			if !yield(literal, i < len(b) && b[i] == ':') {
				return
			}
		}
	}
}

// literalEnd returns the end of the JSON string that begins at i.
func literalEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch i += plain(b[i:]); {
		case i >= len(b):
		case b[i] == '"':
			return i + 1
		case b[i] == '\\':
			i++
		}
	}
	return len(b)
}

// AppendUnescaped appends to dst the character that the JSON escape at the start of b
// stands for, as UTF-8, or a lone surrogate as WTF-8, and returns the length of the
// escape in bytes; 0 if b does not begin with one.
func AppendUnescaped(dst, b []byte) ([]byte, int) {
	if len(b) == 0 || b[0] != '\\' {
		return dst, 0
	}
	r, n := unescape(b)
	if n == 0 {
		return dst, 0
	}
	return appendWTF8(dst, r), n
}

// unescape returns the character that the escape at the start of b stands for
// and the escape's length; 0 if b does not begin with one.
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := hex4(b)
	if !ok {
		return 0, 0
	}
	if low, ok := hex4(b[6:]); ok && utf16.IsSurrogate(r) {
		if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
			return full, 12
		}
	}
	return r, 6
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil && b[2] != '+' && b[2] != '-'
}

func appendWTF8(b []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		// A high surrogate just before a low one is the pair's character.
		if n := len(b); r >= 0xdc00 && n >= 3 {
			if high, ok := surrogate(string(b[n-3:])); ok && high < 0xdc00 {
				return utf8.AppendRune(b[:n-3], utf16.DecodeRune(high, r))
			}
		}
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}
