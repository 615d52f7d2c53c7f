package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skein-dev/skein/server/gateway"
)

func TestSplitLosesNothingAndFits(t *testing.T) {
	long := strings.Repeat("Some words of an answer. ", 20)
	for name, text := range map[string]string{
		"words": long, "paragraphs": strings.Repeat(strings.TrimSpace(long[:60])+"\n\n", 9),
		"one word": strings.Repeat("é", 500), "code": "Look:\n```go\n" + strings.Repeat("x := 1\n", 60) + "```\nDone.",
	} {
		pieces := gateway.Split(text, 80, utf8.RuneCountInString)
		for _, p := range pieces {
			if n := utf8.RuneCountInString(p); n > 80 || n == 0 || strings.Count(p, "```")%2 != 0 {
				t.Errorf("%s: a piece of %d: %q, want 1 to 80, and its code closed", name, n, p)
			}
		}
		plain := func(s string) string {
			return strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(s, "```go", ""), "```", "")), "")
		}
		if got := plain(strings.Join(pieces, "")); got != plain(text) {
			t.Errorf("%s: the pieces are %q", name, pieces)
		}
	}
	want := []string{"First paragraph, that has words enough.", strings.Repeat("second ", 6) + "second"}
	if got := gateway.Split(strings.Join(want, "\n\n"), 70, utf8.RuneCountInString); !slices.Equal(got, want) {
		t.Errorf("Split = %q, want %q", got, want)
	}
}
