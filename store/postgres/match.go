package postgres

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// An indexQuery is what the index is asked.
type indexQuery struct {
	query    string // tsquery
	doubtful string // tsquery: what it says of a row with one of these has to be checked; "" if of all
	odd      bool   // rows that are odd may match as well
}

// A doubt is what has to be checked of the rows that the index finds.
type doubt int

const (
	doubtHuge doubt = iota // those that are marked as huge
	doubtLong              // and those that are marked as long, for places count
	doubtAll               // all, for a word is longer than what the index has of it
)

func (d doubt) query() string {
	return [...]string{quote(hugeMark), quote(hugeMark) + " | " + quote(longMark), "!" + quote(noneMark)}[d]
}

// finderOf returns what asks the index for terms, and false if it would ask for
// nothing: there is no term that must occur. Every word is quoted and a word,
// so nothing in it is taken for an operator.
func finderOf(terms []skein.Term) (indexQuery, bool) {
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
	return indexQuery{query: "(" + strings.Join(all, " & ") + ") | " + quote(hugeMark), doubtful: d.query()}, some
}

// termQuery returns the query for t: one of its ways, of each all phrases. It is
// "" if t has no words.
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

// phraseQuery returns the query for a phrase. Of a text that is marked as long
// it asks only for the words; unless they must not be there.
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
	return quote(stem(w))
}

func quote(lexeme string) string { return "'" + lexeme + "'" }
