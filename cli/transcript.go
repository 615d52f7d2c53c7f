package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// A transcript writes messages for people.
type transcript struct {
	w     io.Writer
	j     *job
	o     *showOptions
	width int // columns; 0 if any do
	md    *markdown
	said  string // head of the message before
	turn  int
	err   error
}

func newTranscript(w io.Writer, j *job, o *showOptions) *transcript {
	t := &transcript{w: w, j: j, o: o, width: j.Terminal.columns()}
	if t.width > 0 && !o.raw {
		t.md = newMarkdown(j, t.width)
	}
	return t
}

func (t *transcript) print(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, text)
	}
}

// entry writes e, if anything of it is to be shown.
func (t *transcript) entry(e *skein.Entry) error {
	m := &e.Message
	var body strings.Builder
	for i := range m.Parts {
		if text := t.part(&m.Parts[i]); text != "" {
			if body.Len() > 0 && !strings.HasPrefix(text, "  ") {
				body.WriteString("\n")
			}
			body.WriteString(text + "\n")
		}
	}
	if m.Error != nil {
		body.WriteString(t.j.paint.red("✗ "+t.clean(m.Error.Message)) + "\n")
	}
	if m.Interrupted {
		body.WriteString(t.j.paint.dim("(it broke off here)") + "\n")
	}
	if body.Len() > 0 {
		t.head(e)
		t.print(body.String())
	}
	return t.err
}

// head writes who says e, unless the same one goes on.
func (t *transcript) head(e *skein.Entry) {
	p := t.j.paint
	who, colour := speaker(e), p.cyan
	if e.Message.Typed() {
		colour = p.green
	}
	if who == t.said && e.Turn == t.turn && !e.Message.Typed() {
		return
	}
	if t.said != "" {
		t.print("\n")
	}
	t.said, t.turn = who, e.Turn
	var about []string
	if e.Message.Typed() {
		about = append(about, fmt.Sprintf("turn %d", e.Turn))
	}
	if at := stamp(e.Time, t.j.Now()); at != "" {
		about = append(about, at)
	}
	if e.Rewound {
		about = append(about, "taken back")
	}
	line := p.bold(colour(render.Line(who)))
	if len(about) > 0 {
		line += p.dim(" · " + strings.Join(about, " · "))
	}
	t.print(line + "\n\n")
}

// speaker returns who says e.
func speaker(e *skein.Entry) string {
	m := &e.Message
	switch {
	case m.Typed():
		return "You"
	case m.Role == skein.RoleAssistant && m.Agent != "":
		return m.Agent
	case m.Role == skein.RoleAssistant && m.Model != "":
		return m.Model
	case m.Role == skein.RoleUser:
		return "program"
	}
	return string(m.Role)
}

// part returns what to show of p; "" for nothing.
func (t *transcript) part(p *skein.Part) string {
	paint := t.j.paint
	switch {
	case p.Call != nil:
		return t.call(p.Call)
	case p.Result != nil:
		return t.result(p.Result)
	case p.File != nil:
		return paint.dim("  ▪ " + render.Line(p.File.Name+" "+p.File.Media))
	case p.Kind == skein.PartReasoning:
		if !t.o.thinking || p.Text == "" {
			return ""
		}
		return paint.dim(t.indent("┊ ", t.clean(p.Text.UTF8())))
	case p.Kind == skein.PartSummary:
		return paint.dim("(a summary of what was compacted)") + "\n\n" + t.text(p.Text)
	case p.Text != "":
		return t.text(p.Text)
	}
	return ""
}

// text returns prose: rendered on a terminal, else as it was written.
func (t *transcript) text(text skein.Text) string {
	if t.md != nil {
		return t.md.render(text.UTF8())
	}
	if t.width > 0 {
		return ansi.Wrap(strings.TrimRight(t.clean(text.UTF8()), "\n"), t.width, "")
	}
	return strings.TrimRight(t.clean(string(text)), "\n")
}

// clean returns text as it may be shown: only --raw in a pipe leaves control
// characters in.
func (t *transcript) clean(text string) string {
	if t.o.raw && t.width == 0 {
		return text
	}
	return render.Clean(text)
}

// indent puts lead before every line of text, which is wrapped to fit.
func (t *transcript) indent(lead, text string) string {
	text = strings.TrimRight(text, "\n")
	if t.width > 0 {
		text = ansi.Wrap(text, max(t.width-len(lead), 16), "")
	}
	return lead + strings.ReplaceAll(text, "\n", "\n"+lead)
}
