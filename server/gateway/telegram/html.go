package telegram

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// html returns Markdown as HTML for Telegram: bold, italic, code and links.
// Headings become bold; anything else stays as written.
func html(markdown string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(markdown) {
		text, end := strings.TrimRight(line, "\n"), ""
		if strings.HasSuffix(line, "\n") {
			end = "\n"
		}
		switch mark, heading := strings.TrimSpace(text), strings.TrimLeft(text, "#"); {
		case strings.HasPrefix(mark, "```") && code:
			code = false
			b.WriteString("</pre>" + end)
		case strings.HasPrefix(mark, "```"):
			code = true
			b.WriteString("<pre>")
		case code:
			b.WriteString(escape(text) + end)
		case heading != text && strings.HasPrefix(heading, " "):
			b.WriteString("<b>" + inline(strings.ReplaceAll(heading[1:], "**", "")) + "</b>" + end)
		default:
			b.WriteString(inline(text) + end)
		}
	}
	if code {
		b.WriteString("</pre>")
	}
	return b.String()
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// inline returns one line as HTML.
func inline(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		out, n := mark(s, i)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s[i:])
			out = escape(s[i : i+n])
		}
		b.WriteString(out)
		i += n
	}
	return b.String()
}

// mark returns the markup at s[i] as HTML, and its length; 0 if there is none.
func mark(s string, i int) (out string, n int) {
	rest := s[i:]
	for _, m := range []struct{ mark, tag string }{{"`", "code"}, {"**", "b"}, {"__", "b"}, {"~~", "s"}, {"*", "i"}, {"_", "i"}} {
		if !strings.HasPrefix(rest, m.mark) {
			continue
		}
		inner, _, ok := strings.Cut(rest[len(m.mark):], m.mark)
		end := i + 2*len(m.mark) + len(inner)
		if !ok || inner == "" || m.tag != "code" && (inner != strings.TrimSpace(inner) || inWord(s, i, end)) {
			return "", 0
		}
		if m.tag == "code" {
			return "<code>" + escape(inner) + "</code>", end - i
		}
		return "<" + m.tag + ">" + inline(inner) + "</" + m.tag + ">", end - i
	}
	if rest[0] == '[' {
		return link(rest)
	}
	return "", 0
}

// inWord reports whether s[i:end] has a letter right before or after it.
func inWord(s string, i, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[end:])
	word := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	return word(before) || word(after)
}

// link returns [text](url) as HTML.
func link(s string) (out string, n int) {
	text, rest, ok := strings.Cut(s[1:], "](")
	to, _, closed := strings.Cut(rest, ")")
	if !ok || !closed || strings.ContainsAny(text, "[]") || !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "https://") {
		return "", 0
	}
	return `<a href="` + escape(to) + `">` + inline(text) + "</a>", len("[](") + len(text) + len(to) + len(")")
}
