package render

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain text,\n\ttabs and Grüße 東京 👩‍👩‍👧", "plain text,\n\ttabs and Grüße 東京 👩‍👩‍👧"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b[2J\x1b[1;1Hgone", "gone"},
		{"\x1b[38;2;1;2;3mrgb\x1b[?25l", "rgb"},
		{"\x1b]0;title\abody", "body"},
		{"\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1bPq#0;2;0;0\x1b\\x", "x"},
		{"\x1bcreset\x1b(Bset", "resetset"},
		{"\x1b", "␛"},
		{"\x1b[12", "␛[12"},
		{"\x1b]0;never ended", "␛]0;never ended"},
		{"\x1b]0;a\nb\ac", "␛]0;a\nb␇c"},
		{"a\rb\r\nc", "a\nb\nc"},
		{"a\x00\a\b\x7f", "a␀␇␈␡"},
		{"\u009b31m", `\u009b31m`},
		{"\x9b31m", "\ufffd31m"},
		{"user\u202etxt.exe\u2066", `user\u202etxt.exe\u2066`},
		{"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCleanMarkdownLeavesNoReferenceToAControlCharacter(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"&#27;[31m", "␛[31m"},
		{"&#x1B;]0;x&#7;", "␛]0;x␇"},
		{"&#x0000202e;", `\u202e`},
		{"&#65;&amp;&#128512;", "&#65;&amp;&#128512;"},
		{"&#;&#x;&#99999999;", "&#;&#x;&#99999999;"},
	} {
		if got := CleanMarkdown(c.in); got != c.want {
			t.Errorf("CleanMarkdown(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLineIsOneLine(t *testing.T) {
	if got, want := Line("  a\r\n\tb \x1b[1mc\n"), "a b c"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a", "\x1b[31m", "\x1b]8;;x\x1b\\", "\x9b", "\u202e", "\r\r\n", "&#27;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("Clean(%q) = %q, which is no UTF-8", s, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || reorders(r) }); i >= 0 {
			t.Errorf("Clean(%q) = %q, which has a control character at %d", s, got, i)
		}
		if again := Clean(got); again != got {
			t.Errorf("Clean(%q) = %q, and once more %q", s, got, again)
		}
		CleanMarkdown(s)
	})
}
