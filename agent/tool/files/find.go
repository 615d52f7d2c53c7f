package files

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"github.com/skein-dev/skein/agent/tool"
)

// maxFound is how many bytes of a matching line are shown.
const maxFound = 400

// A lineFinder collects the lines that match.
type lineFinder struct {
	re     *regexp.Regexp
	around int // lines of context
	limit  int // maximum number of matches
	shut   shut

	text    strings.Builder
	matches int // limit+1 if there are more
	files   int // with matches
	secrets int // skipped files with secrets
	large   int // skipped large files
	unread  int // files that could not be read
}

// file searches the file at path, which the model calls name. It returns no
// errors of the file: one that cannot be read is counted.
func (f *lineFinder) file(path, name string, s fs.FileInfo) error {
	if f.shut.has(s) {
		return nil
	}
	if s.Size() == 0 { // empty, or a special file whose reading may block
		return nil
	}
	if s.Size() > maxSearched {
		f.large++
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		f.unread++
		return nil //nolint:nilerr // it is counted
	}
	if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 { // not a text
		return nil
	}
	at := f.lines(data)
	if len(at) == 0 {
		return nil
	}
	f.files++
	f.show(data, name, at)
	return nil
}

// A hit is a line that matches: its range, and where in it the match begins.
type hit struct{ number, start, end, match int }

// lines returns the lines of data in which a match begins.
func (f *lineFinder) lines(data []byte) (at []hit) {
	number, counted := 1, 0
	for pos := 0; pos < len(data) && f.matches <= f.limit; {
		m := f.re.FindIndex(data[pos:])
		if m == nil {
			break
		}
		begin := pos + m[0]
		if begin == len(data) && data[len(data)-1] == '\n' { // after the last line
			break
		}
		h := hit{match: begin, start: bytes.LastIndexByte(data[:begin], '\n') + 1, end: len(data)}
		if i := bytes.IndexByte(data[begin:], '\n'); i >= 0 {
			h.end = begin + i
		}
		number += bytes.Count(data[counted:h.start], []byte("\n"))
		counted = h.start
		h.number = number
		if f.matches++; f.matches <= f.limit {
			at = append(at, h)
		}
		pos = h.end + 1
	}
	return at
}

// show writes the matching lines and their context.
func (f *lineFinder) show(data []byte, name string, at []hit) {
	shown := 0 // number of the last line shown
	for i, h := range at {
		if f.text.Len() > maxShown {
			f.matches = f.limit + 1
			return
		}
		if f.around > 0 {
			before := around(data[:max(h.start-1, 0)], -f.around, h.start == 0)
			from := h.number - len(before)
			if shown > 0 && from > shown+1 || shown == 0 && f.text.Len() > 0 {
				f.text.WriteString("--\n")
			}
			for j, line := range before {
				if n := from + j; n > shown {
					f.line(name, "-", n, line, 0)
				}
			}
		}
		f.line(name, ":", h.number, data[h.start:h.end], h.match-h.start)
		shown = h.number
		if f.around == 0 {
			continue
		}
		for j, line := range around(data[min(h.end+1, len(data)):], f.around, h.end+1 >= len(data)) {
			n := h.number + 1 + j
			if i+1 < len(at) && n >= at[i+1].number {
				break
			}
			f.line(name, "-", n, line, 0)
			shown = n
		}
	}
}

// around returns the first n lines of data or, if n is negative, the last;
// nothing if none is set.
func around(data []byte, n int, none bool) [][]byte {
	if none {
		return nil
	}
	if n > 0 {
		data = bytes.TrimSuffix(data, []byte("\n"))
	}
	var lines [][]byte
	for ; n > 0 && data != nil; n-- {
		line, rest, more := bytes.Cut(data, []byte("\n"))
		lines = append(lines, line)
		if data = rest; !more {
			break
		}
	}
	for ; n < 0; n++ {
		i := bytes.LastIndexByte(data, '\n')
		lines = append([][]byte{data[i+1:]}, lines...)
		if i < 0 {
			break
		}
		data = data[:i]
	}
	return lines
}

// line writes one line, at most maxFound bytes of it around the offset at.
func (f *lineFinder) line(name, sign string, number int, line []byte, at int) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	before, after := "", ""
	if from := at - maxFound/4; len(line) > maxFound && from > 0 {
		from = min(from, len(line)-maxFound)
		line, before = line[from:], "…"
	}
	if len(line) > maxFound {
		line, after = line[:maxFound], "…"
	}
	fmt.Fprintf(&f.text, "%s%s%d%s %s%s%s\n", name, sign, number, sign, before, strings.ToValidUTF8(string(line), "\ufffd"), after)
}

// output returns what the model reads.
func (f *lineFinder) output() (out tool.Output) {
	out.Text = f.text.String()
	switch {
	case f.matches > f.limit:
		out.Text += "[there are more matches; use a narrower pattern, folder or glob to find them]\n"
	case f.matches == 0:
		out.Text = "[no match]\n"
	default:
		out.Text += fmt.Sprintf("[%s in %s]\n", count(f.matches, "line"), count(f.files, "file"))
	}
	for _, left := range []struct {
		n   int
		why string
	}{{f.secrets, "that may contain secrets"}, {f.large, "too large"}, {f.unread, "not readable"}} {
		if left.n > 0 {
			out.Text += fmt.Sprintf("[left out: %s %s]\n", count(left.n, "file"), left.why)
		}
	}
	return out
}
