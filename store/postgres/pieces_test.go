package postgres

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/inspect"
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
		if got, all := byPieces(&c.q); got.query != c.want || all != c.all {
			t.Errorf("byPieces(%+v) = %s, %v, want %s, %v", c.q, got.query, all, c.want, c.all)
		}
	}
}

// Texts with a substring come newest first, whatever else the index knows of them.
func TestPiecesAreFoundNewestFirst(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	addText(t, s, "a", "the words, number words words", "these words, number two", "no word of it", "these words, number three")
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
	for _, q := range []skein.Query{{Substring: "e words, num"}, {Substring: " words"}, {Regex: " words,"}} {
		q.Each, q.Deadline = true, 20*time.Second
		r, err := s.Search(t.Context(), q)
		if err != nil || !slices.IsSortedFunc(r.Hits, func(a, b skein.Hit) int { return int(b.Seq) - int(a.Seq) }) || len(r.Hits) == 0 {
			t.Errorf("Search(%+v) yields %+v, %v, want the newest first", q, r.Hits, err)
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
		text = plain(text)
		if isOdd(text) || !m.MatchesText(text) {
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
