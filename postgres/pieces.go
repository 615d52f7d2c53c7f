package postgres

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

const (
	minPiece  = 3 // letters of a trigram
	maxPieces = 8
)

// piecesOf returns patterns of LIKE that the small letters of every text have
// that matches the query's substring or regular expression, if its trigrams can
// be trusted (isOdd). There are none if nothing of it is long enough: then all
// texts have to be looked at. They are of ASCII only, for of other letters the
// server may think otherwise than Go which of them are the same.
func piecesOf(q *skein.Query) (all []string) {
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
		if hasTrigram(r) && len(all) < maxPieces {
			all = append(all, "%"+likeEscape(r)+"%")
		}
	}
	return all
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

// hasTrigram reports whether s has enough letters and digits in a row.
func hasTrigram(s string) bool {
	n := 0
	for _, c := range s {
		if n++; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			n = 0
		}
		if n == minPiece {
			return true
		}
	}
	return false
}
