package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/render"
)

// A logText writes log entries for people, one line or paragraph each.
type logText struct {
	w      io.Writer
	j      *job
	steps  bool   // also show what agents and tools began and ended
	events bool   // also show what is not part of a turn
	name   string // name of the log, for messages about damage; "" if there is only one log
	said   string // what the agent said last, in this turn
}

// entry writes e, if it is to be shown.
func (t *logText) entry(e *sessionlog.Entry) error {
	switch {
	case e.Damage != "":
		t.j.say("%sline %d cannot be read: %s", t.name, e.Line, e.Damage)
		return nil
	case e.Kind == sessionlog.User:
		t.said = ""
		return t.write(e, t.j.paint.Bold(t.j.paint.Green("user>")), string(e.Text))
	case e.Kind == sessionlog.Final:
		return t.final(e)
	case e.Kind == sessionlog.Step && t.steps:
		return t.step(e)
	case e.Kind == "" && t.events && e.Event != "llm:request" && e.Event != "llm:response": // their results are in the log too
		return t.line(e, "  "+render.Line(e.Event))
	}
	return nil
}

// final writes the last words of a turn, unless they were just written.
func (t *logText) final(e *sessionlog.Entry) error {
	p := t.j.paint
	if t.said != "" && t.said == string(e.Text) {
		return nil
	}
	who := p.Bold(p.Cyan("agent>"))
	if e.Model != "" {
		who += p.Dim(" (" + render.Line(e.Model) + ")")
	}
	text := string(e.Text)
	if text == "" {
		text = "(nothing)"
	}
	if e.Level == "WARNING" || e.Level == "ERROR" {
		text += " " + p.Red("(it broke off here)")
	}
	return t.write(e, who, text)
}

func (t *logText) step(e *sessionlog.Entry) error {
	p := t.j.paint
	switch e.Step {
	case "agent_start":
		return t.line(e, "  "+render.Line(e.Agent)+" begins")
	case "agent_end":
		return t.line(e, "  "+render.Line(e.Agent)+" is done")
	case "handoff":
		return t.line(e, "  "+render.Line(e.Agent)+" hands over to "+render.Line(e.To))
	case "agent_tool_start":
		return t.line(e, "  "+p.Yellow("→ "+render.Line(e.Tool))+" "+gist([]byte(e.Input)))
	case "agent_tool_end":
		mark := "←"
		if e.Level == "ERROR" {
			mark = p.Red("✗")
		}
		return t.line(e, "  "+mark+" "+render.Line(e.Tool)+" "+render.Line(firstLine(e.Text.UTF8())))
	case "text":
		t.said = string(e.Text)
		return t.write(e, p.Bold(p.Cyan("agent>")), t.said)
	}
	return t.line(e, "  "+render.Line(e.Step))
}

// firstLine returns the first line of text that is not blank, with … if others
// follow.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return line
}

// at returns the time of e in brackets.
func (t *logText) at(e *sessionlog.Entry) string {
	at := "-------------------"
	if e.Time != 0 {
		at = e.Time.Std().In(t.j.Now().Location()).Format("2006-01-02 15:04:05")
	}
	return t.j.paint.Dim("[" + at + "]")
}

// write writes a paragraph spoken by who.
func (t *logText) write(e *sessionlog.Entry, who, text string) error {
	text = strings.TrimRight(render.Clean(skein.Text(text).UTF8()), "\n")
	text = strings.ReplaceAll(text, "\n", "\n    ")
	_, err := fmt.Fprintf(t.w, "%s %s %s\n", t.at(e), who, text)
	return err
}

// line writes one line, cut to the width of the terminal.
func (t *logText) line(e *sessionlog.Entry, text string) error {
	if width := t.j.Terminal.columns(); width > 0 {
		text = cut(text, max(width-22, 20))
	}
	_, err := fmt.Fprintf(t.w, "%s %s\n", t.at(e), text)
	return err
}
