package edits

import (
	"fmt"
	"strings"
)

// around is how many lines a unified diff has before and after a change.
const around = 3

// A File is what a path has at some time.
type File struct {
	Mode string // as Git has it, such as 100644; "" if there is no file
	Text string
}

// NewFileMode is the mode of a file that a patch makes.
const NewFileMode = "100644"

// Unified returns the difference between a file before and after as git diff prints it;
// "" if there is none. A mode that changes is not part of it.
func Unified(path string, was, is File) string {
	if (was.Mode == "") == (is.Mode == "") && was.Text == is.Text {
		return ""
	}
	var b strings.Builder
	from, to := quoted("a/"+path), quoted("b/"+path)
	fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
	if was.Mode == "" {
		from = "/dev/null"
		fmt.Fprintf(&b, "new file mode %s\n", is.Mode)
	}
	if is.Mode == "" {
		to = "/dev/null"
		fmt.Fprintf(&b, "deleted file mode %s\n", was.Mode)
	}
	if was.Text != is.Text {
		fmt.Fprintf(&b, "--- %s%s\n+++ %s%s\n", from, afterName(from), to, afterName(to))
		writeHunks(&b, signed(was.Text, is.Text))
	}
	return b.String()
}

// quoted returns a path as Git prints it in a patch: as in C, if it has quotes or control
// characters.
func quoted(path string) string {
	plain := func(c rune) bool { return c >= ' ' && c != '"' && c != '\\' && c != 0x7f }
	if strings.IndexFunc(path, func(c rune) bool { return !plain(c) }) < 0 {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

// afterName ends a name that has spaces.
func afterName(name string) string {
	if strings.Contains(name, " ") {
		return "\t"
	}
	return ""
}

// A signedLine is a line of one or both of two texts, with its end.
type signedLine struct {
	sign Sign
	text string
}

func signed(was, is string) (all []signedLine) {
	Diff(strings.SplitAfter(was, "\n"), strings.SplitAfter(is, "\n"), func(s Sign, lines []string) {
		for _, l := range lines {
			if l != "" { // what follows the last line's end
				all = append(all, signedLine{s, l})
			}
		}
	})
	return all
}

// writeHunks writes the changes among lines, each with those around it.
func writeHunks(b *strings.Builder, lines []signedLine) {
	old, now := 1, 1 // line numbers
	for i := 0; i < len(lines); {
		end, kept := i, 0
		for end < len(lines) && lines[end].sign == Kept {
			end++
		}
		if end == len(lines) {
			return
		}
		begin := max(i, end-around)
		old, now = old+begin-i, now+begin-i
		for kept <= 2*around && end < len(lines) {
			if lines[end].sign == Kept {
				kept++
			} else {
				kept = 0
			}
			end++
		}
		end -= max(0, kept-around)
		o, n := writeHunk(b, lines[begin:end], old, now)
		old, now, i = old+o, now+n, end
	}
}

// writeHunk writes one hunk, and returns how many lines it has of each text.
func writeHunk(b *strings.Builder, lines []signedLine, old, now int) (o, n int) {
	for _, l := range lines {
		if l.sign != Added {
			o++
		}
		if l.sign != Removed {
			n++
		}
	}
	at := func(line, count int) int {
		if count == 0 {
			return line - 1
		}
		return line
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", at(old, o), o, at(now, n), n)
	for _, l := range lines {
		b.WriteByte(byte(l.sign))
		b.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
	return o, n
}
