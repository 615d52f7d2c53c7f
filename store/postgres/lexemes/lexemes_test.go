package lexemes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

func TestTsvectorHasStemsWordsAndPieces(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"... !":              "",
		"Fox jumps, jumping": "'=jumping':3 '=jumps':2 'fox':1 'jump':2,3",
		"Café O'Neil":        "'cafe':1 'neil':3 'o':2",
		"parseConfig":        "'=parse':4 'config':5 'pars':4 'parseconfig':1",
		"東京都":                "'京都':5 '東京':4 '東京都':1 '都':6",
	} {
		if got := (&Lexer{}).Vector(text).String(); got != want {
			t.Errorf("Vector(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestTextsThatATsvectorCannotHoldAreMarked(t *testing.T) {
	words := func(n, of int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "x%dx ", i%of)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text string
		long, huge bool
	}{
		{"many places", words(16383, 200), false, false},
		{"too many places", words(16385, 200), true, false},
		{"one word too often", words(256, 1), true, false},
		{"too many words", words(200_000, 200_000), true, true},
	} {
		got := (&Lexer{}).Vector(c.text).String()
		if is := strings.Contains(got, quote(longMark)); is != c.long {
			t.Errorf("%s: marked as long: %v, want %v", c.name, is, c.long)
		}
		if is := strings.Contains(got, quote(hugeMark)); is != c.huge {
			t.Errorf("%s: marked as huge: %v, want %v", c.name, is, c.huge)
		}
	}
}

func FuzzTsvectorIsWellFormed(f *testing.F) {
	f.Add("it's a 'quote' \\ and 東京 x\xff\u0301é")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		v := (&Lexer{}).Vector(text).Lexemes
		for i, x := range v {
			if !utf8.ValidString(x.Word) || x.Word == "" || strings.Contains(x.Word, "\x00") || i > 0 && x.Word <= v[i-1].Word {
				t.Errorf("Vector(%q) = %q, want different words in order", text, v)
			}
			if !slices.IsSortedFunc(x.Positions, func(a, b pgtype.TSVectorPosition) int { return cmp.Compare(a.Position, b.Position) }) {
				t.Errorf("Vector(%q) has %q at %v, want places in order", text, x.Word, x.Positions)
			}
		}
		for _, word := range search.Words(text) {
			if word != "" && !isWord(word) {
				t.Errorf("isWord(%q) = false, want true for a word of %q", word, text)
			}
		}
	})
}

func TestQueriesAskForWaysPhrasesAndBeginnings(t *testing.T) {
	for typed, want := range map[string]string{
		"fox":            `((('fox'))) | '/huge'`,
		"jumping foxes":  `((('jump')) & (('fox'))) | '/huge'`,
		`"red fox"`:      `((((('red' <-> 'fox') | ('/long' & 'red' & 'fox'))))) | '/huge'`,
		"snaps*":         `(((('snaps':* | '=snaps':*)))) | '/huge'`,
		"fox -parseFile": `((('fox')) & !(('parsefil') | (('pars' <-> 'file')))) | '/huge'`,
	} {
		q, err := search.Parse(typed)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := QueryOf(q.Terms)
		if !ok || got.Query != want {
			t.Errorf("QueryOf(%s) = %s, %v, want %s", typed, got.Query, ok, want)
		}
	}
	for _, hostile := range []string{"'", "a' | 'b", `\`, "/huge", "=a", "", "a b", "\x00", "\xff"} {
		if got := wordQuery(hostile, false); got != quote(noneMark) {
			t.Errorf("wordQuery(%q) = %s, want %s", hostile, got, quote(noneMark))
		}
	}
	if _, ok := QueryOf([]skein.Term{{Words: []string{"a"}, Not: true}}); ok {
		t.Error("QueryOf of what must not be there = true, want false")
	}
}
