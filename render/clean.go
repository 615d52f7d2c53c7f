package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Clean returns s in a form that is safe for a terminal: valid UTF-8, without
// anything that moves the cursor, changes colors or the order of characters, or
// controls the terminal. Whole escape sequences are removed; other control
// characters become visible (␇, \u009b, \u202e), invalid UTF-8 becomes U+FFFD.
// Line feeds and tabs stay; CR LF becomes a line feed, and so does a lone CR,
// so that nothing is overwritten.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b':
			if seq := escapeSequence(s[i:]); seq > 0 {
				n = seq
			} else {
				b.WriteRune('␛')
			}
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				b.WriteByte('\n')
			}
		default:
			b.WriteString(visible(r))
		}
		i += n
	}
	return b.String()
}

func isClean(s string) bool {
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if n == 1 || harmful(r) {
			return false
		}
		i += n
	}
	return true
}

// harmful reports whether r is a control character or reorders others.
func harmful(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || reorders(r)
}

// reorders reports whether r is an embedding, an override or an isolate of
// Unicode's bidirectional algorithm.
func reorders(r rune) bool { return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 }

func visible(r rune) string {
	switch {
	case !harmful(r):
		return string(r)
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// maxSequence is the maximum length, in bytes, of an escape sequence that is
// removed as a whole: some terminals put whole images into one, but a beginning
// without an end must not hide the rest of the text.
const maxSequence = 1 << 16

// escapeSequence returns the length of the escape sequence (ECMA-48) at the
// start of s, 0 if there is none.
func escapeSequence(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		i := run(s, 2, 0x30, 0x3f)
		return final(s, run(s, i, 0x20, 0x2f), 0x40)
	case ']', 'P', 'X', '^', '_':
		return controlString(s[:min(len(s), maxSequence)])
	}
	return final(s, run(s, 1, 0x20, 0x2f), 0x30)
}

// run returns the end of the run of bytes from first to last that starts at
// s[i].
func run(s string, i int, first, last byte) int {
	for i < len(s) && s[i] >= first && s[i] <= last {
		i++
	}
	return i
}

func final(s string, i int, first byte) int {
	if i < len(s) && s[i] >= first && s[i] <= 0x7e {
		return i + 1
	}
	return 0
}

// controlString returns the length of ESC ] … up to BEL or ESC \.
func controlString(s string) int {
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\a':
			return i + 1
		case c == '\x1b' && strings.HasPrefix(s[i:], "\x1b\\"):
			return i + 2
		case c == '\x1b', c == '\n':
			return 0
		}
	}
	return 0
}

var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`&#(?:[0-9]{1,8}|[xX][0-9a-fA-F]{1,8});?`) })

// CleanMarkdown is [Clean] for text that is then rendered as Markdown, which
// would otherwise turn a reference such as &#27; into the character.
func CleanMarkdown(s string) string {
	s = Clean(s)
	if !strings.Contains(s, "&#") {
		return s
	}
	return reference().ReplaceAllStringFunc(s, func(ref string) string {
		digits, base := strings.Trim(ref, "&#;"), 10
		if digits[0] == 'x' || digits[0] == 'X' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err == nil && n <= utf8.MaxRune && harmful(rune(n)) {
			return visible(rune(n))
		}
		return ref
	})
}

// Line returns s cleaned and on one line: every run of white space is one
// space.
func Line(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
