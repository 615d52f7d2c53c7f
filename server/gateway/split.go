package gateway

import (
	"strings"
	"unicode/utf8"
)

// Split cuts Markdown into pieces of at most limit units, as counted by size:
// at the ends of paragraphs if possible, otherwise of lines, otherwise of
// words. A code block that is cut is closed, and opened again. limit is at
// least 64.
func Split(text string, limit int, size func(string) int) (pieces []string) {
	fence := "" // the next piece begins with it
	for text = strings.TrimSpace(text); text != ""; {
		whole := fence + text
		if size(whole) <= limit {
			return append(pieces, whole)
		}
		piece, rest := cut(text, limit-size(fence)-len("\n```"), size)
		open := fenceAt(fence + piece)
		piece = fence + strings.TrimRight(piece, "\n ")
		if fence = open; open != "" {
			piece += "\n```"
		}
		pieces = append(pieces, piece)
		text = strings.TrimLeft(rest, "\n")
	}
	return pieces
}

// cut returns the longest beginning of text that has at most limit units and
// ends well, and the rest.
func cut(text string, limit int, size func(string) int) (piece, rest string) {
	n := fits(text, limit, size)
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text[:n], end); i > n/3 {
			return text[:i], text[i+len(end):]
		}
	}
	return text[:n], text[n:]
}

// fits returns how many bytes of text fit into limit units: whole runes, at
// least one.
func fits(text string, limit int, size func(string) int) int {
	low, high := 0, len(text)
	for low < high {
		mid := (low + high + 1) / 2
		for mid < len(text) && mid > low && !utf8.RuneStart(text[mid]) {
			mid--
		}
		if mid == low {
			break
		}
		if size(text[:mid]) <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for low < len(text) && !utf8.RuneStart(text[low]) {
		low--
	}
	if low == 0 {
		_, low = utf8.DecodeRuneInString(text)
	}
	return low
}

// fenceAt returns the line that opened the code block in which text ends; "" if
// it does not end in one.
func fenceAt(text string) (open string) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "```") {
			continue
		}
		if open != "" {
			open = ""
		} else if open = strings.TrimSpace(line) + "\n"; len(open) > 20 {
			open = "```\n"
		}
	}
	return open
}
