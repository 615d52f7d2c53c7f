package transcript

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// entry adds a message.
func (t *transcriber) entry(e *skein.Entry) {
	m := &e.Message
	out := &message{
		Seq: e.Seq, Class: classOf(e), Who: render.Line(render.Speaker(m)), Model: render.Line(m.Model), Time: e.Time,
		Interrupted: m.Interrupted, Fork: e.End,
	}
	if m.Typed() {
		out.Turn = e.Turn
	}
	if m.Usage != nil {
		cost, known := t.cost(e, *m.Usage, *m.Usage)
		out.Used = used(*m.Usage, cost, known)
	}
	for i := range m.Parts {
		if t.shows(e, &m.Parts[i]) {
			t.part(out, e, &m.Parts[i])
		}
	}
	if t.Mode != ModeAll && !slices.ContainsFunc(out.Blocks, func(b block) bool { return b.Kind != "program" }) {
		return
	}
	if m.Error != nil {
		out.Error = render.ErrorLine(m.Error)
	}
	if len(out.Blocks) > 0 || out.Error != "" || !onlyAnswers(m) {
		t.clock(e.Time)
		if n := len(t.Items); n > 0 && t.Items[n-1].Message != nil {
			before := t.Items[n-1].Message
			out.Same = m.Role == skein.RoleAssistant && before.Who == out.Who && before.Model == out.Model && before.Class == out.Class
		}
		t.add(transcriptItem{Message: out})
	}
}

// classOf returns the CSS classes of a message, all of them chosen by us.
func classOf(e *skein.Entry) string {
	c := "other"
	switch m := &e.Message; {
	case m.Role == skein.RoleUser && !m.Typed() && !onlyAnswers(m), m.Role == skein.RoleSystem:
		c = "program"
	case m.Role == skein.RoleTool || onlyAnswers(m):
		c = "tool"
	case m.Role == skein.RoleUser, m.Role == skein.RoleSteer:
		c = "user"
	case m.Role == skein.RoleAssistant:
		c = "assistant"
	}
	if e.Compacted {
		c += " compacted"
	}
	if e.Rewound {
		c += " gone"
	}
	return c
}

// part adds what the page shows of p.
func (t *transcriber) part(out *message, e *skein.Entry, p *skein.Part) {
	m := &e.Message
	words := p.Text.UTF8()
	add := func(b block) { out.Blocks = append(out.Blocks, b) }
	switch {
	case p.Call != nil:
		c := t.call(e, p)
		out.Fork = max(out.Fork, c.end)
		add(block{Kind: "call", Call: c.call})
	case p.Result != nil:
		if a := t.answers[p.Result.CallID]; a == nil || !a.taken || a.result != p.Result {
			add(block{Kind: "call", Call: t.orphan(e, p.Result)})
		}
	case p.File != nil:
		add(t.file(p.File))
	case p.Kind == skein.PartReasoning:
		if words != "" {
			html, rest := t.asideProse(m, words)
			add(block{Kind: "reasoning", Title: "Reasoning", HTML: html, Rest: rest})
		}
	case p.Kind == skein.PartSummary:
		html, rest := t.prose(m, words)
		add(block{Kind: "summary", Title: "Summary of what was compacted", HTML: html, Rest: rest})
	case p.Kind == skein.PartAgent:
		add(block{Kind: "agent", Title: render.Line(words)})
	case p.Synthetic && attachedText().MatchString(words):
		found := attachedText().FindStringSubmatch(words)
		code, rest := t.asideCode(languageOf(found[1]), found[2])
		add(block{Kind: "program", Title: "Text of " + render.Line(found[1]), Code: code, Rest: rest})
	case words != "":
		typed, wraps := render.Unwrap(m, words)
		for _, w := range wraps {
			html, rest := t.asideProse(m, w.Text)
			add(block{Kind: "program", Title: render.Clip(render.Line(w.Line()), 100), HTML: html, Rest: rest})
		}
		switch {
		case typed == "":
		case (p.Synthetic || m.Synthetic) && len(typed) > 300:
			html, rest := t.asideProse(m, typed)
			add(block{Kind: "program", Title: render.Clip(render.Line(typed[:min(len(typed), 400)]), 100) + "…", HTML: html, Rest: rest})
		default:
			html, rest := t.prose(m, typed)
			add(block{Kind: "text", HTML: html, Rest: rest})
		}
	case len(p.Raw) > 0:
		code, rest := t.asideCode("json", string(p.Raw))
		add(block{Kind: "raw", Title: render.Line(string(p.Kind)), Code: code, Rest: rest})
	}
}

// attachedText matches the text of an attached file: its name, and what it says.
var attachedText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^<file "([^"\n]+)"[^\n]*>\n(.*)\n</file>$`) })

// file shows an attachment: as a picture if it is one and the store has it.
func (t *transcriber) file(f *skein.File) block {
	b := block{Kind: "file", Title: render.Line(render.FileLine(f))}
	if f.Blob != "" {
		b.Image = t.blob(f.Blob)
		if !strings.HasPrefix(f.Media, "image/") || strings.HasPrefix(f.Media, "image/svg") {
			b.Kind = "download"
		}
	}
	return b
}

// extent returns the length of a text, for people.
func extent(s string) string {
	switch n := strings.Count(strings.TrimRight(s, "\n"), "\n") + 1; {
	case strings.TrimSpace(s) == "":
		return "nothing"
	case n == 1:
		return "1 line"
	default:
		return fmt.Sprintf("%s lines", render.Count(int64(n)))
	}
}
