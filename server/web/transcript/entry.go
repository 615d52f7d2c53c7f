package transcript

import (
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// Bytes of a text or of a piece of code that a page shows; the rest is on the
// page of the message.
const (
	maxText  = 100 << 10
	maxPiece = 12 << 10
	maxWhole = 8 << 20 // on that page

	maxFolded  = 32 << 10 // of all pieces together, on a light page; each that comes later has leastPiece
	leastPiece = 1 << 10
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

// prose returns Markdown as HTML, and how many bytes are left out.
func (t *transcriber) prose(m *skein.Message, words string) (template.HTML, int) {
	shown, rest := t.cut(words, maxText)
	return t.proseOf(m, shown), rest
}

// asideProse is prose for a block that is folded.
func (t *transcriber) asideProse(m *skein.Message, words string) (template.HTML, int) {
	shown, rest := t.piece(words)
	return t.proseOf(m, shown), rest
}

// proseOf returns Markdown as HTML.
func (t *transcriber) proseOf(m *skein.Message, shown string) template.HTML {
	if m.Role == skein.RoleAssistant {
		return template.HTML(t.pieces().Prose(shown)) //nolint:gosec // package render makes it safe
	}
	return template.HTML(t.pieces().Typed(shown)) //nolint:gosec // as above
}

// code returns highlighted code, and how many bytes are left out.
func (t *transcriber) code(language, code string) (template.HTML, int) {
	shown, rest := t.cut(code, maxPiece)
	return t.codeOf(language, shown), rest
}

// asideCode is code for a block that is folded.
func (t *transcriber) asideCode(language, code string) (template.HTML, int) {
	shown, rest := t.piece(code)
	return t.codeOf(language, shown), rest
}

// codeOf returns highlighted code.
func (t *transcriber) codeOf(language, shown string) template.HTML {
	if language == "" && looksLikePatch(shown) {
		language = "diff"
	}
	return template.HTML(t.pieces().Code(language, shown)) //nolint:gosec // package render makes it safe
}

// piece is cut for a text of a block that is folded.
func (t *transcriber) piece(s string) (shown string, rest int) {
	n := maxPiece
	if t.Light {
		n = max(leastPiece, min(maxPiece, maxFolded-t.folded))
	}
	shown, rest = t.cut(s, n)
	t.folded += len(shown)
	return shown, rest
}

// cut returns what is shown of s, and how many bytes are left out.
func (t *transcriber) cut(s string, n int) (shown string, rest int) {
	if t.Uncut {
		n = maxWhole
	}
	shown = render.Clip(s, n)
	return shown, len(s) - len(shown)
}

// looksLikePatch reports whether text looks like the output of diff.
func looksLikePatch(text string) bool {
	text = strings.TrimLeft(text, "\n")
	return strings.HasPrefix(text, "diff --git ") || strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "@@ ") ||
		strings.HasPrefix(text, "--- ") && strings.Contains(text, "\n+++ ")
}

// file shows an attachment: as a picture if it is one and the store has it.
func (t *transcriber) file(f *skein.File) block {
	b := block{Kind: "file", Title: render.Line(render.FileLine(f))}
	if f.Blob != "" {
		b.Image = t.Path() + "/blobs/" + string(f.Blob)
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
