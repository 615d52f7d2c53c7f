package edits

import "strings"

// maxDiff bounds comparisons line by line: the product of both numbers of lines.
const maxDiff = 1 << 20

// A Sign is what became of a line.
type Sign byte

// The signs of a line.
const (
	Kept    Sign = ' '
	Removed Sign = '-'
	Added   Sign = '+'
)

// Diff passes the lines of two texts to write, in order, in pieces: those that both
// have, and those that only one has. It keeps the longest common subsequence of lines,
// or, if that is too much work, those at the beginning and the end.
func Diff(was, is []string, write func(s Sign, lines []string)) {
	head, tail := 0, 0
	for head < len(was) && head < len(is) && was[head] == is[head] {
		head++
	}
	for tail < len(was)-head && tail < len(is)-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	write(Kept, was[:head])
	between(was[head:len(was)-tail], is[head:len(is)-tail], write)
	write(Kept, was[len(was)-tail:])
}

// between compares texts that begin and end differently.
func between(a, b []string, write func(s Sign, lines []string)) {
	if len(a)*len(b) > maxDiff {
		write(Removed, a)
		write(Added, b)
		return
	}
	longest := make([][]int32, len(a)+1) // of a[i:] and b[j:]
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			write(Kept, a[i:i+1])
			i++
			j++
		case i < len(a) && (j == len(b) || longest[i+1][j] >= longest[i][j+1]):
			write(Removed, a[i:i+1])
			i++
		default:
			write(Added, b[j:j+1])
			j++
		}
	}
}

// Lines splits a text into lines without their ends, \n. A text that ends with a line's
// end has no empty line after it.
func Lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
