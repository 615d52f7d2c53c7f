package read

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/prose"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// A Transcript writes messages for people.
type Transcript struct {
	w       io.Writer
	Job     *job.Job
	Options *ShowOptions
	width   int // columns; 0 for no limit
	md      *prose.Markdown
	said    string // the speaker of what is above
	turn    int    // the turn of what is above
	begun   bool   // something was printed
	typed   bool   // a person typed the current message
	lined   bool   // the last thing printed was a line about a tool
	told    *render.Outcomes
	asked   map[string]string // what calls without a result are about, by ID
	above   string            // ID of the call directly above
	err     error
}

// NewTranscript returns a transcript on w.
func NewTranscript(w io.Writer, j *job.Job, o *ShowOptions) *Transcript {
	t := &Transcript{w: w, Job: j, Options: o, width: j.Terminal.Columns(), asked: map[string]string{}}
	if t.width > 0 && !o.raw {
		t.md = prose.New(j.Paint, t.width)
	}
	return t
}

func (t *Transcript) print(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.w, text)
	}
}

// Entry writes e, if there is anything to show.
//
// The error is that of writing.
func (t *Transcript) Entry(e *skein.Entry) error {
	m := &e.Message
	t.failed(e)
	t.typed = m.Typed()
	var pieces []shownPart
	for i := range m.Parts {
		part := &m.Parts[i]
		if p := t.part(m, part); p.text != "" {
			pieces = append(pieces, p)
			t.above = ""
		}
		if c := part.Call; c != nil {
			if state := t.told.Call(e, c.ID); state != "" {
				pieces = append(pieces, shownPart{t.Job.Paint.Yellow("    (" + state + ")"), true})
			}
			t.asked[c.ID], t.above = c.Name+" "+Gist(c.Input), c.ID
		} else if part.Result != nil {
			delete(t.asked, part.Result.CallID)
		}
	}
	if m.Error != nil {
		pieces = append(pieces, shownPart{t.Job.Paint.Red("✗ " + t.clean(m.Error.Message)), false})
	}
	if m.Interrupted {
		pieces = append(pieces, shownPart{t.Job.Paint.Dim("(it broke off here)"), false})
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
func (t *Transcript) failed(e *skein.Entry) {
	for _, line := range t.told.Before(e) {
		if t.begun {
			t.print("\n")
		}
		t.print(t.wrap(t.Job.Paint.Red("✗ "+line)) + "\n")
		t.begun, t.lined, t.above = true, false, ""
	}
}

// A shownPart is what is shown of a part.
type shownPart struct {
	text string
	line bool // a line about a tool: no blank line between two of these
}

// head writes the speaker of e, unless it is the same as before.
func (t *Transcript) head(e *skein.Entry) {
	p := t.Job.Paint
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
	if at := terminal.Stamp(e.Time, t.Job.Now()); at != "" {
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
func (t *Transcript) words(m *skein.Message, text skein.Text) string {
	typed, wraps := render.Unwrap(m, string(text))
	if len(wraps) == 0 || t.Options.raw {
		return t.text(text)
	}
	var all []string
	for _, w := range wraps {
		all = append(all, t.Job.Paint.Dim("▪ "+render.Line(w.Line())))
	}
	if typed != "" {
		all = append(all, "", t.text(skein.Text(typed)))
	}
	return strings.Join(all, "\n")
}

// part returns what to show of p, if anything.
func (t *Transcript) part(m *skein.Message, p *skein.Part) shownPart {
	paint := t.Job.Paint
	switch {
	case p.Call != nil:
		return shownPart{t.call(p.Call), true}
	case p.Result != nil:
		return shownPart{t.result(p.Result), true}
	case p.File != nil:
		return shownPart{paint.Dim("  ▪ " + render.Line(p.File.Name+" "+p.File.Media)), true}
	case p.Kind == skein.PartReasoning && (!t.Options.Thinking || p.Text == ""):
		return shownPart{}
	case p.Kind == skein.PartReasoning:
		return shownPart{paint.Dim(t.indent("┊ ", t.clean(p.Text.UTF8()))), false}
	case p.Kind == skein.PartSummary:
		return shownPart{paint.Dim("(a summary of what was compacted)") + "\n\n" + t.text(p.Text), false}
	case p.Text != "":
		return shownPart{t.words(m, p.Text), false}
	case p.Kind == skein.PartOther && len(p.Raw) > 0:
		return shownPart{t.other(p.Raw), true}
	}
	return shownPart{}
}

// text returns prose: rendered on a terminal, otherwise as written.
func (t *Transcript) text(text skein.Text) string {
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
func (t *Transcript) clean(text string) string {
	if t.Options.raw && t.width == 0 {
		return text
	}
	return render.Clean(text)
}

// indent wraps text and puts lead before every line.
func (t *Transcript) indent(lead, text string) string {
	text = strings.TrimRight(text, "\n")
	if t.width > 0 {
		text = ansi.Wrap(text, max(t.width-len(lead), 16), "")
	}
	return lead + strings.ReplaceAll(text, "\n", "\n"+lead)
}

// call returns one line about a tool call; with --tools, its input below it.
func (t *Transcript) call(c *skein.Call) string {
	p := t.Job.Paint
	name := p.Yellow("→ " + render.Line(c.Name))
	if t.Options.tools {
		return "  " + name + "\n" + t.indent("    ", t.clean(InputText(c.Input)))
	}
	about := Gist(c.Input)
	if t.width > 0 {
		about = terminal.Cut(about, max(t.width-len(c.Name)-8, 10))
	}
	return "  " + name + " " + p.Dim(about)
}

// result returns what a tool answered: with --tools all of it, else only that it
// failed. If it is not directly below its call, it names the call.
func (t *Transcript) result(r *skein.Result) string {
	p := t.Job.Paint
	mark, text := p.Dim("←"), t.clean(r.Text.UTF8())
	if r.Failed {
		mark = p.Red("✗")
	}
	of := ""
	if r.CallID != t.above && t.asked[r.CallID] != "" {
		of = terminal.Cut(render.Line(t.asked[r.CallID]), 40)
	}
	if t.Options.tools {
		if len(r.Raw) > 0 {
			text = strings.TrimLeft(text+"\n"+t.clean(string(r.Raw)), "\n")
		}
		for _, f := range r.Files {
			text += "\n▪ " + render.Line(f.Name+" "+f.Media)
		}
		if text == "" {
			text = "(nothing)"
		}
		return strings.TrimRight("  "+mark+" "+p.Yellow(of), " ") + "\n" + t.indent("    ", text)
	}
	if !r.Failed {
		return ""
	}
	line := render.FailureLine(r)
	if of != "" {
		line = of + ": " + line
	}
	if t.width > 0 {
		line = terminal.Cut(line, max(t.width-6, 10))
	}
	return "  " + mark + " " + p.Dim(line)
}

// other returns a part that the importer could not interpret, as JSON: with --tools
// all of it.
func (t *Transcript) other(raw json.RawMessage) string {
	mark := t.Job.Paint.Dim("▪")
	if t.Options.tools {
		return "  " + mark + "\n" + t.indent("    ", t.clean(InputText(raw)))
	}
	line := render.Line(string(raw))
	if t.width > 0 {
		line = terminal.Cut(line, max(t.width-6, 10))
	}
	return "  " + mark + " " + t.Job.Paint.Dim(line)
}

// gistKeys lists the input fields that best say what a call does.
var gistKeys = []string{"command", "cmd", "pattern", "query", "file_path", "path", "url", "description", "prompt"}

// Gist returns what a call's input is about, on one line.
func Gist(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) == nil {
		for _, key := range gistKeys {
			if s, ok := skein.Unquote(fields[key]); ok {
				return render.Line(s)
			}
		}
		if len(fields) == 1 {
			for _, v := range fields {
				if s, ok := skein.Unquote(v); ok {
					return render.Line(s)
				}
			}
		}
	}
	return render.Line(InputText(input))
}

// InputText returns a call's input for people: a string as its text, else the JSON,
// indented if it is long.
func InputText(input json.RawMessage) string {
	if s, ok := skein.Unquote(input); ok {
		return s
	}
	var b bytes.Buffer
	if len(input) > 60 && json.Indent(&b, input, "", "  ") == nil {
		return b.String()
	}
	return strings.TrimSpace(string(input))
}
