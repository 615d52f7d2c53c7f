package lexemes

import (
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/kljensen/snowball/english"

	"github.com/skein-dev/skein/store/search"
)

// The tsvector of a text (found.words) has the stem of each word and, if the stem
// differs, "=" and the word, for prefix searches; then, two places on, the same for
// what search.Extra returns. Words are those of search.Words, cut off at maxLexeme
// bytes. Three more lexemes, which are not words, are marks:
//
//	/long  some places are missing: a phrase has to be checked in the text
//	/huge  some words are missing too: everything has to be checked in the text
//	/none  occurs in queries only, for what no text contains
const (
	longMark = "/long"
	hugeMark = "/huge"
	noneMark = "/none"

	maxLexeme    = 120     // bytes; PostgreSQL's maximum is 2046
	maxPlace     = 16383   // PostgreSQL's maximum
	maxPlaces    = 255     // of one lexeme, PostgreSQL's maximum
	maxPlacesFor = 400_000 // bytes of a tsvector up to which places are kept
	maxWords     = 900_000 // bytes of a tsvector; PostgreSQL's maximum is 1048575
)

// Bare is the tsvector of a text that cannot be indexed: every search checks it.
func Bare() pgtype.TSVector { return (&vector{huge: true}).tsvector() }

// A Lexer makes tsvectors and remembers stems. It is for one goroutine at a time.
type Lexer struct{ stems map[string]string }

// A vector is a tsvector in the making.
type vector struct {
	places     map[string]int // where a lexeme stands in all
	all        []pgtype.TSVectorLexeme
	size       int // of the tsvector, roughly, in bytes
	long, huge bool
}

// Vector returns the tsvector of text.
func (l *Lexer) Vector(text string) pgtype.TSVector {
	v := vector{places: map[string]int{}}
	at := l.add(&v, text, 1)
	l.add(&v, search.Extra(text), at+2)
	return v.tsvector()
}

// add adds the words of text to v, from place at on, and returns the place after
// them.
func (l *Lexer) add(v *vector, text string, at int) int {
	for _, word := range search.Words(text) {
		word = cut(word)
		stem := l.stem(word)
		v.put(stem, at)
		if stem != word {
			v.put("="+word, at)
		}
		if at++; v.huge {
			break
		}
	}
	return at
}

func (v *vector) put(lexeme string, at int) {
	if lexeme == "" {
		return
	}
	i, known := v.places[lexeme]
	if !known {
		if v.size += len(lexeme) + 8; v.size > maxWords {
			v.huge = true
			return
		}
		i = len(v.all)
		v.places[lexeme], v.all = i, append(v.all, pgtype.TSVectorLexeme{Word: lexeme})
	}
	places := v.all[i].Positions
	if at > maxPlace || len(places) == maxPlaces || v.size > maxPlacesFor {
		v.long = true
		return
	}
	if len(places) > 0 && places[len(places)-1].Position == uint16(at) {
		return
	}
	v.size += 2
	v.all[i].Positions = append(places, pgtype.TSVectorPosition{Position: uint16(at)})
}

// tsvector returns v with its lexemes in PostgreSQL's order, so that the server need not
// sort them.
func (v *vector) tsvector() pgtype.TSVector {
	if v.huge {
		v.all = append(v.all, pgtype.TSVectorLexeme{Word: hugeMark})
	}
	if v.long {
		v.all = append(v.all, pgtype.TSVectorLexeme{Word: longMark})
	}
	slices.SortFunc(v.all, func(a, b pgtype.TSVectorLexeme) int { return strings.Compare(a.Word, b.Word) })
	return pgtype.TSVector{Lexemes: v.all, Valid: true}
}

// maxStems is how many stems a Lexer remembers.
const maxStems = 1 << 14

// stem is [Stem] from memory.
func (l *Lexer) stem(word string) string {
	if s, ok := l.stems[word]; ok {
		return s
	}
	s := Stem(word)
	if l.stems == nil || len(l.stems) >= maxStems {
		l.stems = map[string]string{}
	}
	l.stems[word] = s
	return s
}

// maxStemmed is the most letters of a word that is stemmed as English.
const maxStemmed = 40

// Stem returns the stem of a folded word, which is the word itself unless it is English.
func Stem(word string) string {
	if len(word) < 3 || len(word) > maxStemmed || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	if s := english.Stem(word, true); s != "" {
		return s
	}
	return word
}

// cut returns the part of word that is indexed.
func cut(word string) string {
	if len(word) <= maxLexeme {
		return word
	}
	end := maxLexeme
	for end > 0 && word[end]&0xc0 == 0x80 { // within a character
		end--
	}
	return word[:end]
}

// isWord reports whether w is a word that a text can have.
func isWord(w string) bool {
	return w != "" && !strings.ContainsFunc(w, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.Is(unicode.Co, r) || r == unicode.ReplacementChar
	})
}
