package lexemes

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

func TestPiecesOfPatterns(t *testing.T) {
	for _, c := range []struct {
		q    skein.Query
		want string
		all  bool
	}{
		{skein.Query{Substring: "Rror in"}, "'rror'", false},
		{skein.Query{Substring: "rror in line"}, "'in' & ('line':* | '=line':*)", true},
		{skein.Query{Substring: "ab"}, "", false},
		{skein.Query{Substring: "NewBudget"}, "('newbudget':* | '=newbudget':*)", false},
		{skein.Query{Substring: "a_b_c_d"}, "", false},
		{skein.Query{Substring: " running "}, "'run'", true},
		{skein.Query{Substring: "Straße über"}, "('stra':* | '=stra':*) & ('ber':* | '=ber':*)", false},
		{skein.Query{Regex: `foo.*Bar+\d{3}`}, "('foo':* | '=foo':*)", false},
		{skein.Query{Regex: `(?i)panic: (runtime|index)`}, "'panic'", false},
		{skein.Query{Regex: `(abc)?("def"){2}(ghi)*`}, "'def'", true},
		{skein.Query{Regex: `abc|def`}, "", false},
		{skein.Query{Regex: `[a-z]+`}, "", false},
	} {
		if c.want != "" {
			c.want = "(" + c.want + ") | '/huge'"
		}
		if got, all := ByPieces(&c.q); got.Query != c.want || all != c.all {
			t.Errorf("ByPieces(%+v) = %s, %v, want %s, %v", c.q, got.Query, all, c.want, c.all)
		}
	}
}

// FuzzPieces checks that no matching text is left out.
func FuzzPieces(f *testing.F) {
	f.Add("a task", "A TASK tas\u212a ta\u017fk", false)
	f.Add(" key,b", "the key,be\u0301", false)
	f.Add(`(?i)ro[ou]t\s+key`, "Root  Key", true)
	f.Add(`x{2,} abc+`, "xxxABCabccc xx abc", true)
	f.Fuzz(func(t *testing.T, pattern, text string, regex bool) {
		q := skein.Query{Substring: pattern}
		if regex {
			q = skein.Query{Regex: pattern}
		}
		m, err := search.NewMatcher(q)
		if err != nil || search.Empty(&q) {
			return
		}
		text = strings.ToValidUTF8(text, "\ufffd")
		if IsOdd(text) || !m.MatchesText(text) {
			return
		}
		for _, p := range piecesOf(&q) {
			if !p.sure {
				continue
			}
			there := false
			for _, word := range search.Words(text) {
				there = there || word == p.text || p.prefix && strings.HasPrefix(word, p.text)
			}
			if !there {
				t.Errorf("piecesOf(%+v) has %+v, which is not in %q that matches", q, p, text)
			}
		}
	})
}
