package search

import "iter"

// Sizes of passages, in bytes.
const (
	// LongText is the length of the longest text that is one passage.
	LongText = passage + overlap

	passage = 512 << 10
	overlap = 8 << 10 // of a passage and the next one, so that a phrase is whole in one of them
	seam    = 4 << 10 // where a space or the like is looked for, to cut there
)

// Passages yields the passages of text, in order: all of it, unless it is longer than
// [LongText]. An index can take a long text in passages, each with its own [Extra],
// because the memory that it needs grows with the number of different words. Each
// passage overlaps the next one. A word is cut only where text has no spaces.
func Passages(text string) iter.Seq[ByteRange] {
	return func(yield func(ByteRange) bool) {
		start := 0
		for len(text)-start > LongText {
			end := seamBefore(text, start+passage)
			if !yield(ByteRange{start, end}) {
				return
			}
			start = seamBefore(text, end-overlap)
		}
		yield(ByteRange{start, len(text)})
	}
}

// seamBefore returns the last place, up to at, that follows an ASCII character that
// belongs to no word; if there is none nearby, the start of the character at at.
func seamBefore(text string, at int) int {
	for i := at; i > at-seam; i-- {
		if classes[text[i-1]] == other {
			return i
		}
	}
	return runeStart(text, at)
}
