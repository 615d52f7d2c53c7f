package lexemes

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

const (
	leastWord   = 2 // letters that a word must have to be worth searching for,
	leastPrefix = 3 // and of the beginning of one
	maxPieces   = 8
)

// A lexeme is a word of a text, or the beginning of one.
type lexeme struct {
	text   string // ASCII, in lower case
	prefix bool
	sure   bool // the word begins with text; else text may also be its end
}

func (p lexeme) query() string { return wordQuery(p.text, p.prefix) }

// ByPieces returns the query for texts that may match q's substring or regular
// expression. all says that it finds all of them; otherwise it finds only some, or is
// empty.
func ByPieces(q *skein.Query) (by IndexQuery, all bool) {
	var sure, likely []string
	for _, p := range piecesOf(q) {
		if likely = append(likely, p.query()); p.sure {
			sure = append(sure, p.query())
		}
	}
	if all = len(sure) > 0; all {
		likely = sure
	}
	if len(likely) == 0 {
		return by, false
	}
	return IndexQuery{Query: "(" + strings.Join(likely[:min(len(likely), maxPieces)], " & ") + ") | " + quote(hugeMark), Odd: true}, all
}

// piecesOf returns the pieces that every text has that matches the query's substring
// or regular expression, except odd texts (IsOdd). They are ASCII only: beyond ASCII,
// ignoring case is not the same as comparing folded words.
func piecesOf(q *skein.Query) (all []lexeme) {
	var runs []string
	switch {
	case q.Substring != "":
		runs = ascii(strings.ToValidUTF8(q.Substring, "\ufffd"))
	case q.Regex != "":
		re, err := syntax.Parse(q.Regex, syntax.Perl)
		if err != nil {
			return nil
		}
		runs = literals(re, nil)
	}
	for _, r := range runs {
		for at := 0; at < len(r); {
			n := wordLen(r[at:])
			p := lexeme{r[at : at+n], at+n == len(r), at > 0}
			if n >= leastWord && (!p.prefix || n >= leastPrefix) {
				all = append(all, p)
			}
			at += max(n, 1)
		}
	}
	return all
}

// IsOdd reports whether the words of text cannot rule out that it contains a piece of
// ASCII: it has one of the two characters beyond ASCII that equal an ASCII letter, K
// or S, if case is ignored.
func IsOdd(text string) bool { return strings.ContainsAny(text, "\u212a\u017f") }

// wordLen returns the number of letters and digits at the beginning of s.
func wordLen(s string) int {
	n := strings.IndexFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	if n < 0 {
		return len(s)
	}
	return n
}

// literals adds the runs of ASCII that occur in every match of re to runs.
func literals(re *syntax.Regexp, runs []string) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return append(runs, ascii(string(re.Rune))...)
	case syntax.OpCapture, syntax.OpPlus, syntax.OpConcat:
	case syntax.OpRepeat:
		if re.Min == 0 {
			return runs
		}
	default:
		return runs
	}
	for _, sub := range re.Sub {
		runs = literals(sub, runs)
	}
	return runs
}

// ascii returns the runs of ASCII in s, in lower case.
func ascii(s string) []string {
	return strings.FieldsFunc(strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == 0 || r >= utf8.RuneSelf || r == '\u212a' || r == '\u017f':
			return 0
		}
		return r
	}, s), func(r rune) bool { return r == 0 })
}
