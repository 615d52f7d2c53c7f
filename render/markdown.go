package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// Markdown writes s and its messages to w as a Markdown document (CommonMark
// with tables): a head, then a section for each message.
//
// Text of messages is unchanged, except for [CleanMarkdown], but cannot affect
// what follows: an open code fence is closed, and a line that begins with HTML
// markup is escaped. Tools' inputs and outputs are fenced.
//
// The error is that of entries or of w.
func Markdown(w io.Writer, s *skein.Session, entries Entries, o Options) (err error) {
	defer skein.Wrapf(&err, "render: markdown of %s", s.ID)
	d := &markdownWriter{w: bufio.NewWriter(w), o: o}
	d.printf("# %s\n\n", inline(Line(s.Name())))
	for _, f := range facts(s, o) {
		d.printf("- %s: %s\n", f.name, inline(f.value))
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		d.failed(&e)
		d.entry(&e)
		if d.err != nil {
			return d.err
		}
	}
	d.failed(nil)
	if d.err != nil {
		return d.err
	}
	return d.w.Flush()
}

// markdownWriter writes one document. Its methods do nothing after an error.
type markdownWriter struct {
	w     *bufio.Writer
	o     Options
	marks marks
	calls calls
	err   error
}

func (d *markdownWriter) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

// failed writes the requests that failed before e.
func (d *markdownWriter) failed(e *skein.Entry) {
	for _, line := range d.o.Told.Before(e) {
		d.printf("\n**%s**\n", inline(line))
	}
}

func (d *markdownWriter) entry(e *skein.Entry) {
	m := &e.Message
	if !d.o.shows(m) {
		return
	}
	for _, text := range d.marks.before(e) {
		d.printf("\n---\n\n*%s*\n", text)
	}
	d.printf("\n<a id=\"seq-%d\"></a>\n\n## %s", e.Seq, inline(speaker(m)))
	if e.Turn > 0 && m.Typed() {
		d.printf(" · turn %d", e.Turn)
	}
	if t := d.o.time(e.Time); t != "" {
		d.printf(" · %s", t)
	}
	d.printf("\n")
	for i := range m.Parts {
		if p := &m.Parts[i]; !d.o.hidden(p) {
			d.part(e, p)
		}
	}
	if m.Error != nil {
		d.printf("\n**Error:** %s\n", inline(Line(errorLine(m.Error))))
	}
	if m.Interrupted {
		d.printf("\n*Interrupted.*\n")
	}
}

func (d *markdownWriter) part(e *skein.Entry, p *skein.Part) {
	text := p.Text.UTF8()
	switch {
	case p.Call != nil:
		d.call(e, p.Call)
	case p.Result != nil:
		d.result(p.Result)
	case p.File != nil:
		d.printf("\n- File: %s\n", code(fileLine(p.File)))
	case p.Kind == skein.PartReasoning:
		d.printf("\n**Reasoning**\n\n%s\n", quote(closed(CleanMarkdown(text))))
	case p.Kind == skein.PartSummary:
		d.printf("\n**Summary**\n\n%s\n", quote(closed(CleanMarkdown(text))))
	case p.Kind == skein.PartAgent:
		d.printf("\n- Agent: %s\n", code(Line(text)))
	case text != "":
		typed, wraps := Unwrap(&e.Message, text)
		for _, w := range wraps {
			d.wrap(w, e.Message.Synthetic || p.Synthetic)
		}
		if typed != "" {
			d.printf("\n%s\n", closed(CleanMarkdown(typed)))
		}
	case len(p.Raw) > 0:
		d.printf("\n- %s:\n", inline(Line(string(p.Kind))))
		d.fence("json", Clean(string(p.Raw)))
	}
}

// wrap writes text that a program added, on a line: in full if a person may
// have typed it, because it is nowhere else in the document.
func (d *markdownWriter) wrap(w skein.Wrap, theirs bool) {
	if line := w.Line(); theirs || len(w.Label)+len(": ")+len(strings.Join(strings.Fields(w.Text), " ")) <= len(line) {
		d.printf("\n*%s*\n", inline(Line(line)))
		return
	}
	d.printf("\n*%s:*\n\n%s\n", inline(Line(w.Label)), quote(closed(CleanMarkdown(w.Text))))
}

func (d *markdownWriter) call(e *skein.Entry, c *skein.Call) {
	d.printf("\n**Tool call %d:** %s", d.calls.add(c), code(Line(c.Name)))
	if state := d.o.Told.Call(e, c.ID); state != "" {
		d.printf(" (%s)", inline(state))
	}
	d.printf("\n")
	fs := fields(c.Input)
	gap := "\n"
	for _, f := range fs {
		if !f.long() && f.name != "" {
			d.printf("%s- %s: %s\n", gap, code(f.name), code(f.value))
			gap = ""
		}
	}
	for _, f := range fs {
		if !f.long() && f.name != "" {
			continue
		}
		if f.name != "" {
			d.printf("\n%s:\n", code(f.name))
		}
		lang := ""
		if f.json {
			lang = "json"
		}
		d.fence(lang, f.value)
	}
}

func (d *markdownWriter) result(r *skein.Result) {
	name, n := d.calls.answered(r)
	number, failed := "", ""
	if n > 0 {
		number = fmt.Sprintf(" %d", n)
	}
	if r.Failed {
		failed = " (failed)"
	}
	d.printf("\n**Tool result%s:** %s%s\n", number, code(Line(name)), failed)
	if r.Text != "" {
		d.fence("", Clean(r.Text.UTF8()))
	}
	if len(r.Raw) > 0 {
		d.fence("json", Clean(string(r.Raw)))
	}
	for i := range r.Files {
		d.printf("\n- File: %s\n", code(fileLine(&r.Files[i])))
	}
}

// fence writes text as a code block with fences longer than any in text.
func (d *markdownWriter) fence(lang, text string) {
	text, rest := d.o.cut(text)
	mark := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	d.printf("\n%s%s\n%s\n%s\n", mark, lang, strings.TrimSuffix(text, "\n"), mark)
	if rest > 0 {
		d.printf("\n*… and %d more bytes*\n", rest)
	}
}

func errorLine(e *skein.ErrorInfo) string {
	line := e.Message
	if e.Kind != "" && !strings.HasPrefix(line, e.Kind) {
		line = e.Kind + ": " + line
	}
	if status := strconv.Itoa(e.Status); e.Status != 0 && !strings.Contains(line, status) {
		line += " (HTTP " + status + ")"
	}
	return line
}
