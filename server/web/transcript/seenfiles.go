package transcript

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skein-dev/skein/internal/edits"
)

// textPiece is a piece of a file as a session has seen it.
type textPiece struct {
	from int // number of its first line
	text string
}

// seenFiles is what a session has seen of files, by path: it tells the line of a change
// whose call does not.
type seenFiles map[string][]textPiece

// numbered matches a line of a file as tools that read files number it.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *(\d+)(?:→|\t|: |\| )(.*)$`) })

// saw remembers what a tool told of the file at a path, with the numbers of its lines.
func (f seenFiles) saw(path, output string) {
	from := 0
	var text strings.Builder
	for line := range strings.Lines(output) {
		m := numbered().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil {
			if from > 0 {
				break
			}
			continue
		}
		if from == 0 {
			from, _ = strconv.Atoi(m[1])
		}
		text.WriteString(m[2] + "\n")
	}
	if from > 0 {
		f[path] = append(f[path], textPiece{from, text.String()})
	}
}

// place returns the number of the line of a file where a text is; 0 if nothing that was
// seen of the file tells.
func (f seenFiles) place(path, text string) int {
	text = strings.TrimSuffix(text, "\n")
	for _, p := range slices.Backward(f[path]) {
		if at := strings.Index(p.text, text); at >= 0 && text != "" {
			return p.from + strings.Count(p.text[:at], "\n")
		}
	}
	return 0
}

// change changes what is remembered of a file as e does.
func (f seenFiles) change(e *edits.Edit) {
	if e.Whole && len(e.Hunks) == 1 {
		f[e.Path] = []textPiece{{1, e.Hunks[0].New}}
		return
	}
	for _, h := range e.Hunks {
		if h.Old == "" { // New comes where no piece tells
			continue
		}
		for i := range f[e.Path] {
			p := &f[e.Path][i]
			p.text = strings.Replace(p.text, h.Old, h.New, 1)
		}
	}
}
