package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/prose"
	"github.com/skein-dev/skein/render"
)

// A transcript writes messages for people.
type transcript struct {
	w     io.Writer
	j     *job
	o     *showOptions
	width int // columns; 0 for no limit
	md    *prose.Markdown
	said  string // the speaker of what is above
	turn  int    // the turn of what is above
	begun bool   // something was printed
	typed bool   // a person typed the current message
	lined bool   // the last thing printed was a line about a tool
	told  *render.Progress
	asked map[string]string // what calls without a result are about, by ID
	above string            // ID of the call directly above
	err   error
}

func newTranscript(w io.Writer, j *job, o *showOptions) *transcript {
	t := &transcript{w: w, j: j, o: o, width: j.Terminal.columns(), asked: map[string]string{}}
	if t.width > 0 && !o.raw {
		t.md = prose.New(j.paint, t.width)
	}
	return t
}

func (t *transcript) print(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, text)
	}
}

// entry writes e, if there is anything to show.
func (t *transcript) entry(e *skein.Entry) error {
	m := &e.Message
	t.failed(e)
	t.typed = m.Typed()
	var pieces []piece
	for i := range m.Parts {
		part := &m.Parts[i]
		if p := t.part(m, part); p.text != "" {
			pieces = append(pieces, p)
			t.above = ""
		}
		if c := part.Call; c != nil {
			if state := t.told.Call(e, c.ID); state != "" {
				pieces = append(pieces, piece{t.j.paint.Yellow("    (" + state + ")"), true})
			}
			t.asked[c.ID], t.above = c.Name+" "+gist(c.Input), c.ID
		} else if part.Result != nil {
			delete(t.asked, part.Result.CallID)
		}
	}
	if m.Error != nil {
		pieces = append(pieces, piece{t.j.paint.Red("✗ " + t.clean(m.Error.Message)), false})
	}
	if m.Interrupted {
		pieces = append(pieces, piece{t.j.paint.Dim("(it broke off here)"), false})
	}
	if len(pieces) == 0 {
		return t.err
	}
	t.head(e)
	for _, p := range pieces {
		if t.begun && (!t.lined || !p.line) {
			t.print("\n")
		}
		t.print(p.text + "\n")
		t.begun, t.lined = true, p.line
	}
	return t.err
}

// failed writes which requests failed before e; nil means the end.
func (t *transcript) failed(e *skein.Entry) {
	for _, line := range t.told.Before(e) {
		if t.begun {
			t.print("\n")
		}
		t.print(t.wrap(t.j.paint.Red("✗ "+line)) + "\n")
		t.begun, t.lined, t.above = true, false, ""
	}
}

// A piece is what is shown of a part.
type piece struct {
	text string
	line bool // a line about a tool: no blank line between two of these
}

// head writes the speaker of e, unless it is the same as before.
func (t *transcript) head(e *skein.Entry) {
	p := t.j.paint
	who, colour := speaker(e), p.Cyan
	if e.Message.Typed() {
		colour = p.Green
	}
	goesOn := who == t.said || e.Message.Role == skein.RoleTool && t.said != ""
	if goesOn && e.Turn == t.turn && !e.Message.Typed() {
		return
	}
	if t.begun {
		t.print("\n")
	}
	t.said, t.turn, t.begun, t.lined = who, e.Turn, true, false
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
	line := p.Bold(colour(render.Line(who)))
	if len(about) > 0 {
		line += p.Dim(" · " + strings.Join(about, " · "))
	}
	t.print(line + "\n")
}

// speaker returns the speaker of e.
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

// words returns prose; text that programs inserted into it becomes one line each.
func (t *transcript) words(m *skein.Message, text skein.Text) string {
	typed, wraps := render.Unwrap(m, string(text))
	if len(wraps) == 0 || t.o.raw {
		return t.text(text)
	}
	var all []string
	for _, w := range wraps {
		all = append(all, t.j.paint.Dim("▪ "+render.Line(w.Line())))
	}
	if typed != "" {
		all = append(all, "", t.text(skein.Text(typed)))
	}
	return strings.Join(all, "\n")
}

// part returns what to show of p, if anything.
func (t *transcript) part(m *skein.Message, p *skein.Part) piece {
	paint := t.j.paint
	switch {
	case p.Call != nil:
		return piece{t.call(p.Call), true}
	case p.Result != nil:
		return piece{t.result(p.Result), true}
	case p.File != nil:
		return piece{paint.Dim("  ▪ " + render.Line(p.File.Name+" "+p.File.Media)), true}
	case p.Kind == skein.PartReasoning && (!t.o.thinking || p.Text == ""):
		return piece{}
	case p.Kind == skein.PartReasoning:
		return piece{paint.Dim(t.indent("┊ ", t.clean(p.Text.UTF8()))), false}
	case p.Kind == skein.PartSummary:
		return piece{paint.Dim("(a summary of what was compacted)") + "\n\n" + t.text(p.Text), false}
	case p.Text != "":
		return piece{t.words(m, p.Text), false}
	case p.Kind == skein.PartOther && len(p.Raw) > 0:
		return piece{t.other(p.Raw), true}
	}
	return piece{}
}

// text returns prose: rendered on a terminal, otherwise as written.
func (t *transcript) text(text skein.Text) string {
	switch {
	case t.md != nil && t.typed:
		return t.md.RenderTyped(text.UTF8())
	case t.md != nil:
		return t.md.Render(text.UTF8())
	}
	if t.width > 0 {
		return ansi.Wrap(strings.TrimRight(t.clean(text.UTF8()), "\n"), t.width, "")
	}
	return strings.TrimRight(t.clean(string(text)), "\n")
}

// clean returns text that is safe to show: only --raw in a pipe keeps control
// characters.
func (t *transcript) clean(text string) string {
	if t.o.raw && t.width == 0 {
		return text
	}
	return render.Clean(text)
}

// indent wraps text and puts lead before every line.
func (t *transcript) indent(lead, text string) string {
	text = strings.TrimRight(text, "\n")
	if t.width > 0 {
		text = ansi.Wrap(text, max(t.width-len(lead), 16), "")
	}
	return lead + strings.ReplaceAll(text, "\n", "\n"+lead)
}
