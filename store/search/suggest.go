package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// Words outside these lengths in letters are not corrected: a short one resembles too
// many others.
const (
	minCorrected = 4
	maxCorrected = 24
)

// mostCorrections is how many words of one query are corrected.
const mostCorrections = 4

// Suggest returns typed, a query that found nothing, with every word that is in no
// message of s replaced by the most frequent word there that differs from it by one
// letter: added, left out, another, or exchanged with the next one. q is what typed
// was parsed to. The result is "" if there is no such word, or if the corrected query
// finds nothing either.
//
// Errors are those of the store.
func Suggest(ctx context.Context, s skein.Store, typed string, q skein.Query) (string, error) {
	better, corrected := q, 0
	better.Terms = slices.Clone(q.Terms)
	for i, t := range better.Terms {
		if !correctable(t) || corrected == mostCorrections {
			continue
		}
		known, err := s.Search(ctx, skein.Query{Terms: []skein.Term{t}, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(known.Hits) > 0 || known.CutOff {
			continue
		}
		word, err := correction(ctx, s, fold(t.Words[0]))
		if err != nil {
			return "", err
		}
		if word == "" {
			return "", nil
		}
		typed = replaceWord(typed, t.Words[0], word)
		better.Terms[i].Words = []string{word}
		corrected++
	}
	if corrected == 0 {
		return "", nil
	}
	better.Limit = 1
	found, err := s.Search(ctx, better)
	if err != nil || len(found.Hits) == 0 {
		return "", err
	}
	return typed, nil
}

// correctable reports whether t is one word of letters that must occur.
func correctable(t skein.Term) bool {
	if t.Not || t.Prefix || len(t.Words) != 1 {
		return false
	}
	n := utf8.RuneCountInString(t.Words[0])
	odd := func(r rune) bool { return !unicode.IsLetter(r) || cjk(r) }
	return minCorrected <= n && n <= maxCorrected && !strings.ContainsFunc(t.Words[0], odd)
}

// correction returns the word that is most frequent in the newest messages with one of
// the words that differ from a folded word by one letter; "" if there is none.
func correction(ctx context.Context, s skein.Store, word string) (string, error) {
	found, err := s.Search(ctx, skein.Query{Terms: []skein.Term{{Words: resembling(word), Any: true}}, Each: true, Newest: true})
	if err != nil {
		return "", err
	}
	times := map[string]int{}
	for _, h := range found.Hits {
		for _, w := range marked(&h) {
			if w != word {
				times[w]++
			}
		}
	}
	best := ""
	for _, w := range slices.Sorted(maps.Keys(times)) {
		if times[w] > times[best] {
			best = w
		}
	}
	return best, nil
}

// marked returns the words of a hit's snippet, folded, in which something matched.
func marked(h *skein.Hit) (words []string) {
	var text strings.Builder
	var matches []ByteRange
	for _, f := range h.Fragments() {
		start := text.Len()
		text.WriteString(f.Text)
		if f.Match {
			matches = append(matches, ByteRange{start, text.Len()})
		}
	}
	for at, word := range Words(text.String()) {
		if slices.ContainsFunc(matches, func(m ByteRange) bool { return m.Start < at.End && at.Start < m.End }) {
			words = append(words, word)
		}
	}
	return words
}

// resembling returns the words that differ from a folded word by one letter: a Latin
// one, or one of its own.
func resembling(word string) []string {
	own, all := []rune(word), map[string]bool{}
	letters := append([]rune("abcdefghijklmnopqrstuvwxyz"), own...)
	for i := range len(own) + 1 {
		before, after := string(own[:i]), own[i:]
		for _, l := range letters {
			all[before+string(l)+string(after)] = true
			if len(after) > 0 {
				all[before+string(l)+string(after[1:])] = true
			}
		}
		if len(after) > 0 {
			all[before+string(after[1:])] = true
		}
		if len(after) > 1 {
			all[before+string(after[1])+string(after[0])+string(after[2:])] = true
		}
	}
	delete(all, word)
	return slices.Sorted(maps.Keys(all))
}

// replaceWord returns text with the first word that is was replaced by is.
func replaceWord(text, was, is string) string {
	for at := range Words(text) {
		if text[at.Start:at.End] == was {
			return text[:at.Start] + is + text[at.End:]
		}
	}
	return text
}
