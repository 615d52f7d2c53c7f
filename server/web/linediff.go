package web

import "strings"

// maxDiff bounds comparisons line by line: the product of both numbers of
// lines.
const maxDiff = 1 << 20

// lineDiff returns the changes between two texts, as a patch without line
// numbers: lines that begin with a space, - or +.
func lineDiff(was, is string) string {
	a, b := splitLines(was), splitLines(is)
	var out strings.Builder
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	write := func(mark string, lines []string) {
		for _, l := range lines {
			out.WriteString(mark + l + "\n")
		}
	}
	write(" ", a[:head])
	changes(a[head:len(a)-tail], b[head:len(b)-tail], write)
	write(" ", a[len(a)-tail:])
	return out.String()
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// changes writes how b differs from a, by the longest common subsequence of
// lines; if that is too much work, as one block.
func changes(a, b []string, write func(mark string, lines []string)) {
	if len(a)*len(b) > maxDiff {
		write("-", a)
		write("+", b)
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
			write(" ", a[i:i+1])
			i++
			j++
		case i < len(a) && (j == len(b) || longest[i+1][j] >= longest[i][j+1]):
			write("-", a[i:i+1])
			i++
		default:
			write("+", b[j:j+1])
			j++
		}
	}
}
