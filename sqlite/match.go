package sqlite

import (
	"strings"

	"github.com/skein-dev/skein"
)

// matchExpr returns the FTS5 expression that asks for terms, and false if it
// would ask for nothing: there is no term that must occur. Every word is
// quoted, so nothing in it is taken for an operator.
//
// See https://www.sqlite.org/fts5.html#full_text_query_syntax.
func matchExpr(terms []skein.Term) (string, bool) {
	var want, not []string
	for _, t := range terms {
		switch e := termExpr(t); {
		case e == "":
		case t.Not:
			not = append(not, e)
		default:
			want = append(want, e)
		}
	}
	if len(want) == 0 {
		return "", false
	}
	expr := strings.Join(want, " AND ")
	if len(not) > 0 {
		expr = "(" + expr + ") NOT (" + strings.Join(not, " OR ") + ")"
	}
	return expr, true
}

// termExpr returns the expression for t: one of its ways, of each all phrases.
// It is "" if t has no words.
func termExpr(t skein.Term) string {
	var ways []string
	for _, way := range t.Phrases() {
		var all []string
		for _, p := range way {
			all = append(all, phraseExpr(p))
		}
		ways = append(ways, strings.Join(all, " AND "))
	}
	if len(ways) == 0 {
		return ""
	}
	return "((" + strings.Join(ways, ") OR (") + "))"
}

func phraseExpr(p skein.Phrase) string {
	e := `"` + strings.ReplaceAll(strings.Join(p.Words, " "), `"`, `""`) + `"`
	if p.Prefix {
		e += " *"
	}
	return e
}
