package hits

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// matchExpr returns the FTS5 expression that asks for terms. It returns false
// if the expression would ask for nothing because no term must occur. Every
// word is quoted, so that no word is taken for an operator.
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

// termExpr returns the expression for t: any one of its alternatives, with all
// of that one's phrases. It is "" if t has no words.
func termExpr(t skein.Term) string {
	var ways []string
	for _, way := range search.Phrases(t) {
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

func phraseExpr(p search.Phrase) string {
	words := p.Words
	if p.Prefix {
		// The index has the stems of words, so what a word begins with may be longer
		// than its stem: search for more, and check the matches (verify).
		last := words[len(words)-1]
		words = append(slices.Clone(words[:len(words)-1]), stemStart(last))
	}
	e := `"` + strings.NewReplacer(`"`, `""`, "\x00", " ").Replace(strings.Join(words, " ")) + `"`
	if p.Prefix {
		e += " *"
	}
	return e
}

// surelyStem is the least number of letters that the stem of a word has, if the
// word has that many: the porter stemmer leaves no fewer of longer words.
const surelyStem = 3

// stemStart returns a prefix of the stem of every word that begins with word.
func stemStart(word string) string {
	if !isASCII(word) {
		return word // the porter stemmer does not change other scripts
	}
	return word[:min(len(word), surelyStem)]
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// prefixes returns the terms for which the index finds more than they ask for.
func prefixes(terms []skein.Term) (ps []skein.Term) {
	for _, t := range terms {
		if t.Prefix {
			ps = append(ps, t)
		}
	}
	return ps
}
