package prose

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces are building blocks of Markdown, some of which may change their meaning
// when more text follows.
var pieces = []string{
	"one", "two three four five six seven", " ", "\n", "\n\n", "- ", "1. ", "2) ", "> ", "# ", "#", "===", "---", "***", "-",
	"```", "```go\n", "`", "**", "*", "~~~\n", "    ", "\t", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "|", "<div>", "<!-- ", "-->",
	"[a]", "[a]: http://x\n", "[a](b)", "\\", "&amp;", "&#27;", "\x1b[31m", "\x1b]0;x", "\a", "\r", "\r\n", "東京", "é", "\xff", "[ ] ",
}

func TestWhatAStreamShowsIsWhatTheWholeShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(Paint{}, rapid.SampledFrom([]int{20, 40, 80}).Draw(t, "width"))
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "parts")
		s := NewStream(m)
		var got []string
		whole := ""
		for _, p := range parts {
			whole += p
			got = append(got, s.Add(p)...)
			s.Open()
		}
		got = append(got, s.End()...)
		if want := m.Render(whole); strings.Join(got, "\n") != want {
			t.Fatalf("Add of %q shows\n%q\nwant\n%q", parts, strings.Join(got, "\n"), want)
		}
	})
}

func TestAStreamShowsLinesOfCodeAsTheyComplete(t *testing.T) {
	s := NewStream(New(Paint{}, 40))
	var got []string
	for _, p := range []string{"Look:\n\n```go\n", "a\n", "b", "\n", "c\n"} {
		got = append(got, s.Add(p)...)
	}
	if want := "Look:||    a|    b"; strings.Join(got, "|") != want {
		t.Errorf("Add returns %q, want %q", strings.Join(got, "|"), want)
	}
	if open, want := strings.Join(s.Open(), "|"), "    c"; open != want {
		t.Errorf("Open() = %q, want %q", open, want)
	}
}
