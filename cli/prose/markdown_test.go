package prose

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestMarkdownOnATerminal(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"words fill the line", "one two three four five six\nseven", "one two three four five\nsix seven"},
		{"a heading", "# Plan *b*", "# Plan b"},
		{"what is stressed", "a **b** *c* ~~d~~ `e f`", "a b c d `e f`"},
		{"a list in a list", "- one\n- two\n  1. a\n  2. b\n     c", "• one\n• two\n  1. a\n  2. b c"},
		{"a loose list", "- one\n\n- two", "• one\n\n• two"},
		{"a quotation", "> one two three four five six\n>\n> seven", "│ one two three four\n│ five six\n│\n│ seven"},
		{"code is never broken", "```go\nfunc main() { println(\"a long line\") }\n\n```", "    func main() { println(\"a long line\") }"},
		{"links", "[here](http://a) <http://b>", "here (http://a) http://b"},
		{"a picture", "![cat](http://c)", "picture: cat (http://c)"},
		{"markup is text", "<b>x</b>\n\n<script>y", "<b>x</b>\n\n<script>y"},
		{"escapes", `\*a\* &amp; &#98;`, "*a* & b"},
		{"no reference is a control character", "&#27;[31m &#x202e;x", `␛[31m \u202ex`},
		{"a table", "| a | b |\n|---|---|\n| 1 | two |", "a  b\n1  two"},
		{"a table that is too wide", "| a | b |\n|---|---|\n| one two three | four five six seven |", "a: one two three\nb: four five six seven"},
		{"boxes", "- [x] a\n- [ ] b", "• [x] a\n• [ ] b"},
		{"a long word is broken", strings.Repeat("x", 30), strings.Repeat("x", 24) + "\n" + strings.Repeat("x", 6)},
		{"wide characters", strings.Repeat("東京 ", 6), "東京 東京 東京 東京 東京\n東京"},
		{"a rule", "a\n\n---\n\nb", "a\n\n" + strings.Repeat("─", 24) + "\n\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := New(Paint{}, 24).Render(c.in)
			if got != c.want {
				t.Errorf("render(%q) =\n%s\nwant\n%s", c.in, got, c.want)
			}
		})
	}
}

func TestMarkdownKeepsTheLineEndsOfWhatWasTyped(t *testing.T) {
	if got, want := New(Paint{}, 24).RenderTyped("one\ntwo"), "one\ntwo"; got != want {
		t.Errorf("render = %q, want %q", got, want)
	}
}

// A pager forgets the colors of a line when it goes back to it.
func TestMarkdownEndsEveryColourOnItsLine(t *testing.T) {
	got := New(Paint{On: true}, 24).Render("**one two three four five six seven** `a b c d e f g h i j k l m n`")
	for line := range strings.SplitSeq(got, "\n") {
		if strings.Contains(line, "\x1b[") && !strings.HasSuffix(line, "\x1b[0m") {
			t.Errorf("line %q goes on in colour", line)
		}
	}
	if !strings.Contains(got, "\x1b[1m") || !strings.Contains(got, "\x1b[36m") {
		t.Errorf("render = %q, want bold and cyan", got)
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"# a\n\n- b\n  > c\n", "| a |\n|-|\n| b |", "```\nx", "&#27;[1m", "a\\\nb", strings.Repeat("> ", 40), "[a](b)", "1. x\n\n   y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, width := range []int{1, 40} {
			if got := New(Paint{}, width).Render(s); strings.ContainsAny(got, "\x1b\a\r\u009b") {
				t.Errorf("render(%q) = %q, which has control characters", s, got)
			}
		}
		got := New(Paint{On: true}, 40).RenderTyped(s)
		if strings.ContainsAny(ansi.Strip(got), "\x1b\a\r") {
			t.Errorf("render(%q) in colour = %q", s, got)
		}
	})
}
