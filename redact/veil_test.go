package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/search"
)

const (
	veiledToken = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	veiledWord  = "hunter2!correct.horse"
)

// said returns a store with one session that has these texts.
func said(t *testing.T, texts ...string) skein.Store {
	t.Helper()
	s := memory.New()
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "of " + veiledToken + " here"})}
	for i, text := range texts {
		evs = append(evs, skein.Say(skein.Time(i+2), skein.UserSays(text)))
	}
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: evs}); err != nil {
		t.Fatal(err)
	}
	return s
}

// Text that matches only together with a secret, on both sides of it or at an
// end caused by a secret, does not match; everything else does.
func TestASearchThroughAVeilFindsWhatIsShown(t *testing.T) {
	s := redact.New().Veil(said(t, "one pear", "a plum, PASSWORD="+veiledWord+" and\nthe end", "pears of "+veiledToken+"\npear"))
	word := func(text string) skein.Query {
		q, err := search.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	for _, c := range []struct {
		q    skein.Query
		want string // seqs
	}{
		{word("pear"), "[2 4]"},
		{word("pear -pears"), "[2]"},
		{word("plum -hunter2"), "[3]"},
		{word("role:user -hunter2"), "[4 3 2]"},
		{word("plum password"), "[3]"},
		{word("hunter2"), "[]"},
		{word("hunt*"), "[]"},
		{word(`"password and"`), "[]"},
		{word("redacted"), "[]"},
		{skein.Query{Substring: "word="}, "[3]"},
		{skein.Query{Substring: "word=h"}, "[]"},
		{skein.Query{Substring: "[redacted"}, "[]"},
		{skein.Query{Regex: "^one"}, "[2]"},
		{skein.Query{Regex: `(?m)^pear$`}, "[4]"},
		{skein.Query{Regex: `=$`}, "[]"},
		{skein.Query{Regex: `\bpear\b`}, "[4 2]"},
		{skein.Query{Regex: `and\nthe end\z`}, "[3]"},
		{skein.Query{Regex: `=.* and`}, "[]"},
	} {
		c.q.Each = true
		r, err := s.Search(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		at := []skein.Seq{}
		for _, h := range r.Hits {
			at = append(at, h.Seq)
		}
		if got := fmt.Sprint(at); got != c.want {
			t.Errorf("Search(%+v) finds %s, want %s", c.q, got, c.want)
		}
	}
}

func TestTitlesThroughAVeilAreFilteredAsTheyAreShown(t *testing.T) {
	s := redact.New().Veil(said(t, "x"))
	for title, want := range map[string]int{"OF": 1, "here": 1, "ghp_a": 0, "redacted": 0, "of " + veiledToken: 0} {
		n := 0
		for x, err := range s.Sessions(t.Context(), skein.Filter{Title: title, Limit: 1}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; strings.Contains(x.Title, "ghp_") {
				t.Errorf("the title is %q", x.Title)
			}
		}
		if n != want {
			t.Errorf("%d sessions have %q in their title, want %d", n, title, want)
		}
	}
}

// A snippet shows no piece of a secret, wherever it is cut and whatever
// matched: words before, in and after it.
func TestASnippetShowsNoPieceOfASecret(t *testing.T) {
	for pad := range 170 {
		text := "first\n" + strings.Repeat("x", pad) + " export DB_PASSWORD=" + veiledWord + "\nand then " + veiledToken + " the rest of it"
		s := said(t, text)
		for name, store := range map[string]skein.Store{"the veil": redact.New().Veil(s), "the cover": redact.New().Cover(s)} {
			for _, q := range []skein.Query{{Substring: "first"}, {Substring: "rest"}, {Regex: "(?s).+"}, {Substring: "correct"}, {Substring: "and"}} {
				r, err := store.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if found := len(r.Hits) == 1; found != (name == "the cover" || q.Substring != "correct") {
					t.Errorf("Search(%+v) through %s finds %d hits", q, name, len(r.Hits))
				}
				for _, h := range r.Hits {
					for _, secret := range []string{veiledWord, veiledToken} {
						for n := range secret[:len(secret)-3] {
							if piece := secret[n : n+4]; strings.Contains(strings.NewReplacer(skein.Mark, "", skein.EndMark, "").Replace(h.Snippet), piece) {
								t.Fatalf("Search(%+v) through %s shows %q of a secret: %q", q, name, piece, h.Snippet)
							}
						}
					}
				}
			}
		}
	}
}

// A match is highlighted in a snippet, but nothing in the mark of a secret is.
func TestASnippetKeepsItsMarks(t *testing.T) {
	mark := strings.NewReplacer("<", skein.Mark, ">", skein.EndMark)
	for _, c := range []struct{ text, regex, want string }{
		{"a fork b", "fork", "a <fork> b"},
		{"PASSWORD=hunter2!x is it", "(?i)password", "<PASSWORD>=[redacted:password] is it"},
		{"PASSWORD=hunter2!x is it", "WORD=hunter2!x", "PASSWORD=[redacted:password] is it"},
		{"PASSWORD=hunter2!x is it", "(?s).*", "<PASSWORD=[redacted:password] is it>"},
		{"PASSWORD=hunter2!x is it", "WORD=.{12}|is", "PASS<WORD=[redacted:password]> <is> it"},
	} {
		r, err := redact.New().Cover(said(t, c.text)).Search(t.Context(), skein.Query{Regex: c.regex})
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Snippet != mark.Replace(c.want) {
			t.Errorf("Search(%q) in %q = %+v, %v, want the snippet %q", c.regex, c.text, r.Hits, err, c.want)
		}
	}
}

// What a search shows, and in which order, does not depend on the secrets, however
// many messages match because of them.
func TestARankThroughAVeilDoesNotTellOfSecrets(t *testing.T) {
	answer := func(secret func(i int) string) string {
		var texts []string
		for i := range 700 {
			texts = append(texts, fmt.Sprintf("plum number %03d PASSWORD=%s and so on", i, secret(i)))
		}
		q, err := search.Parse("plum")
		if err != nil {
			t.Fatal(err)
		}
		q.Each, q.Limit, q.Deadline = true, 30, time.Minute
		r, err := redact.New().Veil(said(t, texts...)).Search(t.Context(), q)
		if err != nil || len(r.Hits) != q.Limit {
			t.Fatalf("Search = %d hits, %v, want %d", len(r.Hits), err, q.Limit)
		}
		var at []skein.Seq
		for _, h := range r.Hits {
			at = append(at, h.Seq)
		}
		return fmt.Sprint(at)
	}
	without := answer(func(int) string { return veiledWord })
	with := answer(func(i int) string { return veiledWord + strings.Repeat("!plum", i%5) })
	if with != without {
		t.Errorf("with the word in secrets, too, a search finds %s, want %s", with, without)
	}
}
