package render

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// colour returns code as HTML: spans of class c (comment), s (string), m
// (number), k (keyword), f (function call), i and d (inserted and deleted
// lines), or plain text if the language is not known.
//
// It distinguishes only what helps a reader. Preparing a full set of grammars
// at the start of every command takes longer than most commands run.
func colour(language, code string) string {
	language = strings.ToLower(language)
	s, ok := syntaxes()[aliases()[language]]
	switch {
	case len(code) > maxColoured:
		return html.EscapeString(code)
	case language == "diff" || language == "patch":
		return colourDiff(code)
	case !ok:
		return html.EscapeString(code)
	}
	p := inputPainter{syntax: s, code: code}
	for p.at < len(code) {
		p.next()
	}
	p.plain(p.at)
	return p.out.String()
}

func colourDiff(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "i"
		case strings.HasPrefix(line, "-"):
			class = "d"
		case strings.HasPrefix(line, "@@"):
			class = "c"
		}
		span(&b, class, line)
	}
	return b.String()
}

// span writes text with a class, or without one if class is "".
func span(b *strings.Builder, class, text string) {
	if class == "" {
		b.WriteString(html.EscapeString(text))
		return
	}
	b.WriteString(`<span class="` + class + `">` + html.EscapeString(text) + `</span>`)
}

// inputPainter makes one pass over code.
type inputPainter struct {
	syntax
	code string
	done int // end of what was written
	at   int
	out  strings.Builder
}

// plain writes the text not yet written, up to end, without a class.
func (p *inputPainter) plain(end int) {
	span(&p.out, "", p.code[p.done:end])
	p.done = end
}

// take writes the next n bytes with a class.
func (p *inputPainter) take(class string, n int) {
	p.plain(p.at)
	p.at += n
	span(&p.out, class, p.code[p.done:p.at])
	p.done = p.at
}

func (p *inputPainter) next() {
	rest := p.code[p.at:]
	if n := p.comment(rest); n > 0 {
		p.take("c", n)
		return
	}
	if n := p.quoted(rest); n > 0 {
		p.take("s", n)
		return
	}
	r, size := utf8.DecodeRuneInString(rest)
	if !wordRune(r) {
		p.at += size
		return
	}
	n := len(rest) - len(strings.TrimLeftFunc(rest, wordRune))
	word := rest[:n]
	switch {
	case unicode.IsDigit(r):
		n = len(rest) - len(strings.TrimLeftFunc(rest, func(r rune) bool { return wordRune(r) || r == '.' }))
		p.take("m", n)
	case p.keywords[p.fold(word)]:
		p.take("k", n)
	case strings.HasPrefix(rest[n:], "("):
		p.take("f", n)
	default:
		p.at += n
	}
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// comment returns the length of the comment at the start of s; 0 if none.
func (p *inputPainter) comment(s string) int {
	if p.open != "" && strings.HasPrefix(s, p.open) {
		if end := strings.Index(s[len(p.open):], p.shut); end >= 0 {
			return len(p.open) + end + len(p.shut)
		}
		return len(s)
	}
	if p.line == "" || !strings.HasPrefix(s, p.line) {
		return 0
	}
	// In a shell, a # inside a word does not begin a comment: $#, ${a#b}.
	if p.line == "#" && p.at > 0 && !strings.ContainsRune(" \t\n;(", rune(p.code[p.at-1])) {
		return 0
	}
	return lineLen(s)
}

func lineLen(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// quoted returns the length of the string at the start of s; 0 if none. A
// string that does not end on its line ends there, except those with three
// quotes or backticks.
func (p *inputPainter) quoted(s string) int {
	if !strings.ContainsRune(p.quotes, rune(s[0])) {
		return 0
	}
	if triple := strings.Repeat(s[:1], 3); strings.HasPrefix(s, triple) {
		if end := strings.Index(s[3:], triple); end >= 0 {
			return end + 6
		}
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		case s[i] == '\n' && s[0] != '`':
			return i
		}
	}
	return len(s)
}
