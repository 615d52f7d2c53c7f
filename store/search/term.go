package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// A Phrase is a sequence of words. They are folded: in lowercase, without accents.
type Phrase struct {
	Words  []string
	Prefix bool // the last word is the beginning of one
}

// Phrases returns the ways in which t can occur: t occurs in a text if all phrases
// of one way do, each in the words of the text or in the words of its [Extra]. The
// first way is what was typed. The result is nil if t has no words; empty ones do not
// count.
//
// parseConfig is also looked for as the phrase parse config, which occurs in
// parse_config and in the pieces of parseConfigFile; 東京都 as the pairs 東京 京都; a
// single 京 as the beginning of a pair; and a phrase of both kinds of script, which
// is in no column as a whole, as one phrase for each run of one kind.
func Phrases(t skein.Term) [][]Phrase {
	if t.Words = wordsOf(t); len(t.Words) == 0 {
		return nil
	}
	if t.Any {
		var ways [][]Phrase
		for _, w := range t.Words {
			ways = append(ways, Phrases(skein.Term{Words: []string{w}, Prefix: t.Prefix})...)
		}
		return ways
	}
	typed := Phrase{Prefix: t.Prefix}
	for _, w := range t.Words {
		typed.Words = append(typed.Words, fold(w))
	}
	pieces := Phrase{Prefix: t.Prefix}
	for _, w := range t.Words {
		if strings.ContainsFunc(w, cjk) {
			return [][]Phrase{{typed}, stretches(t)}
		}
		for w != "" {
			n := hump(w)
			pieces.Words = append(pieces.Words, fold(w[:n]))
			w = w[n:]
		}
	}
	if slices.Equal(pieces.Words, typed.Words) {
		return [][]Phrase{{typed}}
	}
	return [][]Phrase{{typed}, {pieces}}
}

// wordsOf returns a copy of the words of t without empty ones.
func wordsOf(t skein.Term) []string {
	return slices.DeleteFunc(slices.Clone(t.Words), func(w string) bool { return w == "" })
}

// stretches returns a phrase for each run of words with, or without, CJK.
func stretches(t skein.Term) (all []Phrase) {
	var s termRun
	for i, w := range t.Words {
		has := strings.ContainsFunc(w, cjk)
		if i > 0 && has != s.cjk {
			all = append(all, s.phrase())
			s = termRun{}
		}
		s.cjk = has
		if !has {
			s.words = append(s.words, fold(w))
			continue
		}
		for w != "" {
			n := scriptRun(w)
			s.piece(w[:n])
			w = w[n:]
		}
	}
	last := s.phrase()
	last.Prefix = last.Prefix || t.Prefix && s.tail == ""
	return append(all, last)
}

// A termRun becomes a phrase as Extra writes it: the pairs of a run, then its last
// character, unless the text may continue there.
type termRun struct {
	cjk    bool
	words  []string
	tail   string // last character of the CJK run at the end; "" if there is none
	single bool   // that is all of the run
}

func (s *termRun) piece(p string) {
	if s.tail != "" {
		s.words, s.tail = append(s.words, s.tail), ""
	}
	if r, _ := utf8.DecodeRuneInString(p); !cjk(r) {
		s.words = append(s.words, fold(p))
		return
	}
	for s.single = true; ; s.single = false {
		n := runeLen(p)
		if n == len(p) {
			s.tail = p
			return
		}
		s.words = append(s.words, p[:n+runeLen(p[n:])])
		p = p[n:]
	}
}

func (s *termRun) phrase() Phrase {
	if s.tail != "" && s.single {
		return Phrase{append(s.words, s.tail), true}
	}
	return Phrase{Words: s.words}
}
