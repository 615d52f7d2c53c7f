package tool

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with everything escaped that a person who is asked about it
// would not see: control characters, characters that change the order of
// characters, and invalid UTF-8 become escapes such as \x1b or \u202e. Line
// feeds and tabs stay. From a text longer than limit bytes, it removes the
// middle and says how much was removed.
func Visible(s string, limit int) string {
	if len(s) > limit {
		from, to := limit/2, len(s)-limit/2
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		return Visible(s[:from], limit) + "\n… " + strconv.Itoa(to-from) + " bytes are not shown …\n" + Visible(s[to:], limit)
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])+0x100, 16)[1:])
		case r == '\n', r == '\t', unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		i += n
	}
	return b.String()
}

// Line returns the first line of s that has words, escaped like [Visible], at
// most about 120 bytes of it.
func Line(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			if len(line) > maxLine {
				cut := maxLine
				for cut > 0 && !utf8.RuneStart(line[cut]) {
					cut--
				}
				line = line[:cut] + "…"
			}
			return Visible(line, 4*maxLine)
		}
	}
	return ""
}

const maxLine = 120
