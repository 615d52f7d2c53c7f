package redact_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
)

// A snippet shows no piece of a secret, wherever it was cut and whatever
// matched.
func TestASnippetShowsNoPieceOfASecret(t *testing.T) {
	r := redact.New()
	secret := "hunter2!correct.horse"
	text := "first\nexport DB_PASSWORD=" + secret + "\nand then the rest of it"
	flat := strings.ReplaceAll(text, "\n", " ")
	at := strings.Index(flat, secret)
	for from := range at + len(secret) {
		for to := max(from, at) + 1; to <= len(flat); to++ {
			got := r.Snippet("…"+flat[from:to]+"…", text)
			for n := range secret[:len(secret)-3] {
				if piece := secret[n : n+4]; strings.Contains(got, piece) {
					t.Fatalf("Snippet(%q) = %q: it shows %q", flat[from:to], got, piece)
				}
			}
		}
	}
}

func TestASnippetKeepsItsMarks(t *testing.T) {
	r, mark, end := redact.New(), skein.Mark, skein.EndMark
	for in, want := range map[string]string{
		"a " + mark + "fork" + end + " b":                                   "a " + mark + "fork" + end + " b",
		"the " + mark + "PASSWORD" + end + "=hunter2!x is":                  "the " + mark + "PASSWORD" + end + "=[redacted:password] is",
		"PASSWORD=" + mark + "hunter2" + end + "!x is " + mark + "it" + end: "PASSWORD=[redacted:password] is " + mark + "it" + end,
		"PASS" + mark + "WORD=hunter2!x" + end + " is":                      "PASS" + mark + "WORD=[redacted:password]" + end + " is",
	} {
		if got := r.Snippet(in); got != want {
			t.Errorf("Snippet(%q) = %q, want %q", in, got, want)
		}
	}
}
