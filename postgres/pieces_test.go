package postgres

import (
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

func TestPiecesOfPatterns(t *testing.T) {
	for _, c := range []struct {
		q    skein.Query
		want []string
	}{
		{skein.Query{Substring: "Rror in"}, []string{"%rror in%"}},
		{skein.Query{Substring: "ab"}, nil},
		{skein.Query{Substring: "a_b_c_d"}, nil},
		{skein.Query{Substring: "100%_of\\it"}, []string{`%100\%\_of\\it%`}},
		{skein.Query{Substring: "Straße über"}, []string{"%stra%", "%ber%"}},
		{skein.Query{Regex: `foo.*Bar+\d{3}`}, []string{"%foo%"}},
		{skein.Query{Regex: `(?i)panic: (runtime|index)`}, []string{"%panic: %"}},
		{skein.Query{Regex: `(abc)?(def){2}(ghi)*`}, []string{"%def%"}},
		{skein.Query{Regex: `abc|def`}, nil},
		{skein.Query{Regex: `[a-z]+`}, nil},
	} {
		if got := piecesOf(&c.q); !slices.Equal(got, c.want) {
			t.Errorf("piecesOf(%+v) = %q, want %q", c.q, got, c.want)
		}
	}
}

// FuzzPieces wants no text to be left out that matches.
func FuzzPieces(f *testing.F) {
	f.Add("task", "TASK tas\u212a ta\u017fk", false)
	f.Add(`(?i)ro[ou]t\s+key`, "Root  Key", true)
	f.Add(`x{2,}abc+`, "xxxABCabccc xxabc", true)
	f.Fuzz(func(t *testing.T, pattern, text string, regex bool) {
		q := skein.Query{Substring: pattern}
		if regex {
			q = skein.Query{Regex: pattern}
		}
		m, err := q.Matcher()
		if err != nil || q.Empty() {
			return
		}
		text = plain(text)
		if isOdd(text) || !m.MatchesText(text) {
			return
		}
		small := strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, text)
		for _, p := range piecesOf(&q) {
			piece := strings.NewReplacer(`\\`, `\`, `\%`, `%`, `\_`, `_`).Replace(strings.TrimSuffix(strings.TrimPrefix(p, "%"), "%"))
			if !strings.Contains(small, piece) {
				t.Errorf("piecesOf(%+v) has %q, which is not in %q that matches", q, piece, text)
			}
		}
	})
}
