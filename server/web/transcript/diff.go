package transcript

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

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
	p := diffPainter{texts: &t.abridger, language: languageOf(e.Path)}
	d.Bare = true
	for i, h := range hunks {
		if i > 0 {
			p.out.WriteString(`<span class="skip"> </span>`)
		}
		from := cmp.Or(h.Line, t.files.place(e.Path, h.Old), t.files.place(e.Path, h.New))
		if e.Whole {
			from = 1
		}
		p.hunk(h, from)
		d.Bare = d.Bare && from == 0
		d.Rest += p.rest
	}
	t.files.change(e)
	d.Code = template.HTML(p.out.String()) //nolint:gosec // package render makes it safe
	return d
}

// short returns a path for people: relative to the session's folder, if it is in there.
func (v *PageView) short(path string) string {
	for _, root := range []string{v.Session.Cwd, v.Session.Project} {
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
	texts    *abridger
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
	shown, rest := p.texts.cut(text, maxPiece)
	n := len(edits.Lines(shown))
	lines = htmlLines(p.texts.renderer().Code(p.language, strings.Join(edits.Lines(shown), "\n")))
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
