package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// A ByteRange is the bytes of a text from Start up to but not including End.
type ByteRange struct{ Start, End int }

// maxStretches is the most ranges that Find returns.
const maxStretches = 64

// Find returns the ranges of text that match, in order, at most 64, which do not
// overlap: phrases where they occur, and words inside another word that they are a
// piece of. In a long text it may return only the first.
func (m *Matcher) Find(text string) []ByteRange {
	if m.text != nil {
		return found(m.text.find(text, m.budget))
	}
	stand := make([][]ByteRange, len(m.phrases))
	m.phrases.in(text, func(i int, at ByteRange) bool {
		if len(stand[i]) < maxStretches {
			stand[i] = append(stand[i], at)
		}
		return true
	})
	var all []ByteRange
	for i := range m.terms {
		t := &m.terms[i]
		if t.not {
			continue
		}
		here := t.stretches(stand)
		if len(here) == 0 {
			here = found(t.typed.FindAllStringIndex(text, maxStretches))
		}
		all = append(all, here...)
	}
	return apart(all)
}

func found(locs [][]int) (all []ByteRange) {
	for _, l := range locs {
		if l[0] < l[1] {
			all = append(all, ByteRange{l[0], l[1]})
		}
	}
	return all
}

// stretches returns where the phrases of a term occur.
func (t *matchTerm) stretches(stand [][]ByteRange) (all []ByteRange) {
	for _, way := range t.ways {
		for _, i := range way {
			all = append(all, stand[i]...)
		}
	}
	return all[:min(len(all), maxStretches)]
}

// apart sorts all and leaves out what overlaps an earlier one.
func apart(all []ByteRange) []ByteRange {
	slices.SortFunc(all, func(a, b ByteRange) int { return a.Start - b.Start })
	end := 0
	all = slices.DeleteFunc(all, func(s ByteRange) bool {
		if s.Start < end {
			return true
		}
		end = s.End
		return false
	})
	return all[:min(len(all), maxStretches)]
}

// Snippet returns some words of text around the first match, at most about 200
// bytes and the marks, on one line: what matches between [Mark] and [EndMark],
// "…" where text was cut. Without a match, it is the beginning of text. What a program
// wrapped stands without its envelope, after what a person typed.
func (m *Matcher) Snippet(text string) string {
	text = opened(text)
	const before, after = 60, 140
	at := m.Find(text)
	first := ByteRange{}
	if len(at) > 0 {
		first = at[0]
	}
	from := wordStart(text, max(0, first.Start-before), first.Start)
	to := wordEnd(text, first.End, min(len(text), max(first.Start+after, min(first.End, first.Start+2*after))))
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	for _, s := range at {
		if s.Start >= to {
			break
		}
		b.WriteString(oneLine(text[from:s.Start]) + skein.Mark + oneLine(text[s.Start:min(s.End, to)]) + skein.EndMark)
		from = min(s.End, to)
	}
	b.WriteString(oneLine(text[from:to]))
	if to < len(text) {
		b.WriteString("…")
	}
	return b.String()
}

// opened returns text without the envelopes of [skein.Unwrap], each of which
// becomes its label.
func opened(text string) string {
	typed, wraps := skein.Unwrap(text)
	if len(wraps) == 0 {
		return text
	}
	all := []string{typed}
	for _, w := range wraps {
		all = append(all, "▪ "+strings.TrimSuffix(w.Label+": "+w.Text, ": "))
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}

// wordStart returns the first offset after a space in text[from:to], or, if there
// is no space, where a character begins.
func wordStart(text string, from, to int) int {
	if from == 0 {
		return 0
	}
	if i := strings.IndexByte(text[from:to], ' '); i >= 0 {
		return from + i + 1
	}
	return runeStart(text, from)
}

// wordEnd returns the offset of the last space in text[from:to], or, if there is no
// space, where a character begins; to if that is the end.
func wordEnd(text string, from, to int) int {
	if to == len(text) {
		return to
	}
	if i := strings.LastIndexByte(text[min(from, to):to], ' '); i > 0 {
		return min(from, to) + i
	}
	return runeStart(text, to)
}

// runeStart returns the start of the character that i is in.
func runeStart(text string, i int) int {
	for back := range utf8.UTFMax {
		if i-back <= 0 || i >= len(text) || utf8.RuneStart(text[i-back]) {
			return i - back
		}
	}
	return i // text is not UTF-8
}

// oneLine replaces each run of control characters and spaces by one space and each
// run of bytes that are not UTF-8 by one U+FFFD, and removes the marks.
func oneLine(s string) string {
	space, bad := false, false
	return strings.Map(func(r rune) rune {
		was, wasBad := space, bad
		space, bad = r <= ' ' || r == 0x7f, r == utf8.RuneError
		switch {
		case r == rune(skein.Mark[0]), r == rune(skein.EndMark[0]), space && was, bad && wasBad:
			return -1
		case space:
			return ' '
		}
		return r
	}, s)
}
