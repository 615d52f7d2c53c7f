package hits

import (
	"testing"

	"github.com/skein-dev/skein"
)

// What a user types is taken as words, never as FTS5 syntax.
func TestMatchExprQuotesEverything(t *testing.T) {
	word := func(w ...string) skein.Term { return skein.Term{Words: w} }
	for _, c := range []struct {
		terms []skein.Term
		want  string
		ok    bool
	}{
		{nil, "", false},
		{[]skein.Term{{}}, "", false},
		{[]skein.Term{word("lock")}, `(("lock"))`, true},
		{[]skein.Term{word("or"), word("near")}, `(("or")) AND (("near"))`, true},
		{[]skein.Term{word("database", "is", "locked")}, `(("database is locked"))`, true},
		{[]skein.Term{{Words: []string{"conf"}, Prefix: true}}, `(("con" *))`, true},
		{[]skein.Term{word("a"), {Words: []string{"b"}, Not: true}}, `((("a"))) NOT ((("b")))`, true},
		{[]skein.Term{{Words: []string{"b"}, Not: true}}, "", false},
	} {
		if got, ok := matchExpr(c.terms); got != c.want || ok != c.ok {
			t.Errorf("matchExpr(%+v) = %s, %v, want %s, %v", c.terms, got, ok, c.want, c.ok)
		}
	}
}
