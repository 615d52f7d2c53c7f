package lexemes

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// An IndexQuery is a query for the index.
type IndexQuery struct {
	Query    string // tsquery
	Doubtful string // tsquery: rows that match it have to be checked; "" if all rows have to be
	Odd      bool   // odd rows (IsOdd) may match as well
}

// A doubt says which of the rows that the index finds have to be checked.
type doubt int

const (
	doubtHuge doubt = iota // those marked as huge
	doubtLong              // and those marked as long, because places matter
	doubtAll               // all, because a word is longer than what is indexed of it
)

func (d doubt) query() string {
	return [...]string{quote(hugeMark), quote(hugeMark) + " | " + quote(longMark), "!" + quote(noneMark)}[d]
}

// QueryOf returns the query for terms, and false if there is no term that must
// occur. Every word consists of letters and digits and is quoted, so that nothing in
// it is taken for an operator.
func QueryOf(terms []skein.Term) (IndexQuery, bool) {
	var all []string
	d, some := doubtHuge, false
	for _, t := range terms {
		e := termQuery(t, &d)
		if e == "" {
			continue
		}
		if t.Not {
			e = "!" + e
		}
		some = some || !t.Not
		all = append(all, e)
	}
	return IndexQuery{Query: "(" + strings.Join(all, " & ") + ") | " + quote(hugeMark), Doubtful: d.query()}, some
}

// termQuery returns the query for t: all phrases of one of its ways. It is "" if t
// has no words.
func termQuery(t skein.Term, d *doubt) string {
	var ways []string
	for _, way := range search.Phrases(t) {
		var all []string
		for _, p := range way {
			all = append(all, phraseQuery(p, t.Not, d))
		}
		ways = append(ways, strings.Join(all, " & "))
	}
	if len(ways) == 0 {
		return ""
	}
	return "((" + strings.Join(ways, ") | (") + "))"
}

// phraseQuery returns the query for a phrase. For a text marked as long, it requires
// only the words, unless the phrase must not occur.
func phraseQuery(p search.Phrase, not bool, d *doubt) string {
	var words []string
	for i, w := range p.Words {
		words = append(words, wordQuery(w, p.Prefix && i == len(p.Words)-1))
		if len(w) > maxLexeme {
			*d = doubtAll
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	*d = max(*d, doubtLong)
	exact := "(" + strings.Join(words, " <-> ") + ")"
	if not {
		return exact
	}
	return "(" + exact + " | (" + quote(longMark) + " & " + strings.Join(words, " & ") + "))"
}

func wordQuery(w string, prefix bool) string {
	if !isWord(w) {
		return quote(noneMark)
	}
	if w = cut(w); prefix {
		return "(" + quote(w) + ":* | " + quote("="+w) + ":*)"
	}
	return quote(Stem(w))
}

func quote(lexeme string) string { return "'" + lexeme + "'" }
