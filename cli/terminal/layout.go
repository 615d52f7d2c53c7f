package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein/cli/prose"
)

// A HelpText lays out help.
type HelpText struct {
	Paint prose.Paint
	Width int // columns
}

// Reflow joins the lines of each paragraph of text; indented lines stay.
func Reflow(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var b strings.Builder
	for i, line := range lines {
		loose := func(s string) bool { return s != "" && s[0] != ' ' }
		switch {
		case i == 0:
		case loose(line) && loose(lines[i-1]):
			b.WriteString(" ")
		default:
			b.WriteString("\n")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Rows lays out names and descriptions in two columns, or one below the other if
// there is not enough room.
func (h HelpText) Rows(rows [][2]string) string {
	left := 0
	for _, r := range rows {
		left = max(left, ansi.StringWidth(r[0]))
	}
	var b strings.Builder
	for _, r := range rows {
		if h.Width < left+24 {
			b.WriteString("  " + h.Paint.Cyan(r[0]) + "\n" + h.Wrap(r[1], 6) + "\n")
			continue
		}
		text := strings.TrimLeft(h.Wrap(r[1], left+4), " ")
		b.WriteString("  " + h.Paint.Cyan(r[0]) + strings.Repeat(" ", left+2-ansi.StringWidth(r[0])) + text + "\n")
	}
	return b.String()
}

// Wrap breaks text into lines of the width, each indented; the continuation of an
// indented line is indented further.
func (h HelpText) Wrap(text string, indent int) string {
	room := max(h.Width-indent-1, 16)
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if ansi.StringWidth(line) <= room {
			lines = append(lines, line)
			continue
		}
		if at := strings.LastIndex(line, "  "); at > len(lead) && longest(line[at:]) <= room-at-2 {
			lead = strings.Repeat(" ", at+2) // the second column of two
			lines = append(lines, line[:at+2]+Fill(line[at+2:], room-at-2, lead))
			continue
		}
		lines = append(lines, lead+Fill(line, room-len(lead), lead+strings.Repeat(" ", min(len(lead), 2))))
	}
	pad := strings.Repeat(" ", indent)
	return pad + strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n"+pad)
}

// longest returns the width of the longest word of text.
func longest(text string) (n int) {
	for _, word := range strings.Fields(text) {
		n = max(n, ansi.StringWidth(word))
	}
	return n
}

// Fill breaks text into lines of room columns; lead goes before every line but the
// first.
func Fill(text string, room int, lead string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := ansi.StringWidth(word)
		switch {
		case i == 0:
		case at+1+n > room:
			b.WriteString("\n" + lead)
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}
