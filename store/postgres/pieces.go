package postgres

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

const (
	leastWord   = 2 // letters of a word that is worth asking for,
	leastPrefix = 3 // and of the beginning of one
	maxPieces   = 8
)

// A lexeme is what a text has as a word, or as the beginning of one.
type lexeme struct {
	text   string // ASCII, in small letters
	prefix bool
	sure   bool // that the word begins with it: else it may end with it, too
}

func (p lexeme) query() string { return wordQuery(p.text, p.prefix) }

// byPieces returns what asks the index for texts that may match the query's
// substring or regular expression. all says that there are no others; else the
// index can only be asked for some of them, if for any.
func byPieces(q *skein.Query) (by indexQuery, all bool) {
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
	return indexQuery{query: "(" + strings.Join(likely[:min(len(likely), maxPieces)], " & ") + ") | " + quote(hugeMark), odd: true}, all
}

// piecesOf returns the pieces that every text has that matches the query's
// substring or regular expression, unless it is odd (isOdd). They are of ASCII only:
// what else is the same where the case is ignored is not what is the same in words.
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

// wordLen returns how many letters and digits s begins with.
func wordLen(s string) int {
	n := strings.IndexFunc(s, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	if n < 0 {
		return len(s)
	}
	return n
}

// likeEscape returns a text as a pattern of LIKE that matches it alone.
func likeEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

// literals adds to runs the ASCII that every text has that re matches.
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

// ascii returns the runs of ASCII in s, in small letters.
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
