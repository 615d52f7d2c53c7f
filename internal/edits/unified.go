package edits

import (
	"fmt"
	"strings"
)

// around is how many lines a unified diff has before and after a change.
const around = 3

// Unified returns the difference between two texts of a file as git diff prints it; "" if
// they are equal. A file without text does not exist.
func Unified(path, was, is string) string {
	if was == is {
		return ""
	}
	var b strings.Builder
	from, to := "a/"+path, "b/"+path
	fmt.Fprintf(&b, "diff --git %s %s\n", from, to)
	if was == "" {
		from = "/dev/null"
		b.WriteString("new file mode 100644\n")
	}
	if is == "" {
		to = "/dev/null"
		b.WriteString("deleted file mode 100644\n")
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	writeHunks(&b, signed(was, is))
	return b.String()
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
