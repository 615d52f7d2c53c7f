package transcript

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/render"
)

// drawnDiff is what a call changes in a file.
type drawnDiff struct {
	Path           string
	Note           string // "deleted", "moved from a.go"; "" for a change of its lines
	Added, Removed int    // lines
	Code           template.HTML
	Bare           bool // the numbers of the lines are not known
	Rest           int  // bytes that are left out
}

// diffs draws the changes of a call.
func (t *transcriber) diffs(out *call, all []edits.Edit) {
	var paths []string
	for i := range all {
		e := &all[i]
		d := t.diff(e)
		if n := len(out.Diffs); n > 0 && out.Diffs[n-1].Path == d.Path && d.Note == "" {
			was := &out.Diffs[n-1]
			was.Added, was.Removed, was.Rest = was.Added+d.Added, was.Removed+d.Removed, was.Rest+d.Rest
			was.Bare = was.Bare && d.Bare
			was.Code += d.Code
			continue
		}
		out.Diffs = append(out.Diffs, d)
		paths = append(paths, d.Path)
	}
	out.Gist = render.Clip(strings.Join(slices.Compact(paths), ", "), 120)
}

// diff draws what e does to its file.
func (t *transcriber) diff(e *edits.Edit) drawnDiff {
	d := drawnDiff{Path: t.short(e.Path), Added: len(e.Added), Removed: len(e.Removed)}
	switch {
	case e.Deleted:
		d.Note = "deleted"
	case e.From != "":
		d.Note = "moved from " + render.Line(e.From)
	case e.Whole:
		d.Note = "written whole"
	}
	hunks := e.Hunks
	if len(hunks) == 0 && len(e.Added)+len(e.Removed) > 0 {
		hunks = []edits.Hunk{{Old: strings.Join(e.Removed, "\n"), New: strings.Join(e.Added, "\n")}}
	}
	p := diffPainter{t: t, language: languageOf(e.Path)}
	d.Bare = true
	for i, h := range hunks {
		if i > 0 {
			p.out.WriteString(`<span class="skip"> </span>`)
		}
		from := cmp.Or(h.Line, t.place(e.Path, h.Old), t.place(e.Path, h.New))
		if e.Whole {
			from = 1
		}
		p.hunk(h, from)
		d.Bare = d.Bare && from == 0
		d.Rest += p.rest
	}
	t.known(e)
	d.Code = template.HTML(p.out.String()) //nolint:gosec // package render makes it safe
	return d
}

// short returns a path for people: relative to the session's folder, if it is in there.
func (t *transcriber) short(path string) string {
	for _, root := range []string{t.Session.Cwd, t.Session.Project} {
		if in, ok := strings.CutPrefix(path, strings.TrimRight(root, `/\`)); ok && root != "" && len(in) > 1 && strings.ContainsRune(`/\`, rune(in[0])) {
			path = in[1:]
			break
		}
	}
	return render.Clip(render.Line(path), 200)
}

// diffPainter writes hunks as HTML: runs of removed and added lines, which a wide page
// puts side by side, between those that stay.
type diffPainter struct {
	t        *transcriber
	language string
	out      strings.Builder
	rest     int
}

// hunk writes a hunk whose first line has the number from; 0 if that is not known.
func (p *diffPainter) hunk(h edits.Hunk, from int) {
	was, rest := p.lines(h.Old)
	is, rest2 := p.lines(h.New)
	p.rest = rest + rest2
	a, b := from, from // numbers of the next lines
	var gone, come []string
	flush := func() {
		p.run(gone, come, a, b)
		a, b = plus(a, len(gone)), plus(b, len(come))
		gone, come = nil, nil
	}
	edits.Diff(edits.Lines(h.Old)[:len(was)], edits.Lines(h.New)[:len(is)], func(sign edits.Sign, lines []string) {
		n := len(lines)
		switch sign {
		case edits.Removed:
			gone, was = append(gone, was[:n]...), was[n:]
			return
		case edits.Added:
			come, is = append(come, is[:n]...), is[n:]
			return
		}
		if n == 0 {
			return
		}
		flush()
		for i := range n {
			p.line("", " ", number(a, i), number(b, i), was[i])
		}
		was, is, a, b = was[n:], is[n:], plus(a, n), plus(b, n)
	})
	flush()
}

// run writes lines that were removed and those in their place.
func (p *diffPainter) run(gone, come []string, a, b int) {
	if len(gone)+len(come) == 0 {
		return
	}
	class := "run"
	if len(gone) > 0 && len(come) > 0 {
		class = "run both"
	}
	p.out.WriteString(`<span class="` + class + `"><span class="was">`)
	for i, code := range gone {
		p.line("d", "-", number(a, i), "", code)
	}
	p.out.WriteString(`</span><span class="is">`)
	for i, code := range come {
		p.line("i", "+", "", number(b, i), code)
	}
	p.out.WriteString(`</span></span>`)
}

func (p *diffPainter) line(class, sign, a, b, code string) {
	fmt.Fprintf(&p.out, `<span class="%s" data-a="%s" data-b="%s">%s%s`+"\n</span>", strings.TrimSpace("l "+class), a, b, sign, code)
}

// number returns the number of a line for people; "" if it is not known.
func number(from, i int) string {
	if from == 0 {
		return ""
	}
	return strconv.Itoa(from + i)
}

func plus(from, n int) int {
	if from == 0 {
		return 0
	}
	return from + n
}

// lines returns the lines of a text, colored, and how many bytes are left out.
func (p *diffPainter) lines(text string) (lines []string, rest int) {
	shown, rest := p.t.cut(text, maxPiece)
	n := len(edits.Lines(shown))
	lines = htmlLines(p.t.pieces().Code(p.language, strings.Join(edits.Lines(shown), "\n")))
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n], rest
}

// htmlLines splits colored code into lines: a span that goes over several lines is in
// each of them.
func htmlLines(code string) (lines []string) {
	open := ""
	for line := range strings.SplitSeq(code, "\n") {
		line = open + line
		begin, end := strings.LastIndex(line, "<span"), strings.LastIndex(line, "</span>")
		if open = ""; begin > end {
			open = line[begin : begin+strings.IndexByte(line[begin:], '>')+1]
			line += "</span>"
		}
		lines = append(lines, line)
	}
	return lines
}

// textPiece is a piece of a file as a session has seen it.
type textPiece struct {
	from int // number of its first line
	text string
}

// numbered matches a line of a file as tools that read files number it.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *(\d+)(?:→|\t|: |\| )(.*)$`) })

// saw remembers what a tool told of the file at a path, with the numbers of its lines.
func (t *transcriber) saw(path, output string) {
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
		t.files[path] = append(t.files[path], textPiece{from, text.String()})
	}
}

// place returns the number of the line of a file where a text is; 0 if nothing that was
// seen of the file tells.
func (t *transcriber) place(path, text string) int {
	text = strings.TrimSuffix(text, "\n")
	for _, p := range slices.Backward(t.files[path]) {
		if at := strings.Index(p.text, text); at >= 0 && text != "" {
			return p.from + strings.Count(p.text[:at], "\n")
		}
	}
	return 0
}

// known changes what is remembered of a file as e does.
func (t *transcriber) known(e *edits.Edit) {
	if e.Whole && len(e.Hunks) == 1 {
		t.files[e.Path] = []textPiece{{1, e.Hunks[0].New}}
		return
	}
	for _, h := range e.Hunks {
		if h.Old == "" { // New comes where no piece tells
			continue
		}
		for i := range t.files[e.Path] {
			p := &t.files[e.Path][i]
			p.text = strings.Replace(p.text, h.Old, h.New, 1)
		}
	}
}
