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

// A hitLine is a hit in JSON.
type hitLine struct {
	Session skein.SessionID  `json:"session"`
	Seq     skein.Seq        `json:"seq"`
	Turn    int              `json:"turn"` // 0 before the first turn
	Role    skein.Role       `json:"role"`
	Time    skein.Time       `json:"time"`
	Score   float64          `json:"score"`             // higher is better
	Count   int              `json:"count"`             // hits in the session, which --each lists; 0 if not counted
	Rewound bool             `json:"rewound,omitempty"` // it was taken back
	Name    string           `json:"name"`              // of the session
	Agent   string           `json:"agent"`
	Project string           `json:"project"`
	Snippet []skein.Fragment `json:"snippet"` // joined, its texts are the snippet
}

func newHitLine(s *skein.Session, h skein.Hit) hitLine {
	if h.Score == 0 {
		h.Score = 0 // not -0, which JSON would show
	}
	return hitLine{
		Session: h.Session, Seq: h.Seq, Turn: h.Turn, Role: h.Role, Time: h.Time, Score: h.Score, Count: h.Count, Rewound: h.Rewound,
		Name: s.Name(), Agent: agentOf(s), Project: s.Project, Snippet: h.Fragments(),
	}
}

// write prints h for people: a line about the session, then the snippet.
func (h *hitLine) write(w io.Writer, j *job, n int) error {
	p, width := j.paint, j.Terminal.columns()
	name, project := render.Line(h.Name), render.Line(j.tilde(h.Project))
	if width == 0 && !j.wide {
		name, project = cut(name, pipedTitle), cutLeft(project, pipedText)
	}
	head := p.Cyan(shortID(h.Session)) + "  " + p.Bold(name)
	tail := h.about(j, project)
	if width > 0 && !j.wide {
		head = ansi.Truncate(head, width, "…")
		if over := ansi.StringWidth(tail) - (width - 2); over > 0 {
			if room := ansi.StringWidth(project) - over; room >= 8 {
				tail = h.about(j, cutLeft(project, room))
			} else {
				tail = h.about(j, "")
			}
		}
		tail = ansi.Truncate(tail, width-2, "…")
	}
	blank := ""
	if n > 0 {
		blank = "\n"
	}
	_, err := fmt.Fprintf(w, "%s%s\n  %s\n%s\n", blank, head, p.Dim(tail), h.text(p, width))
	return err
}

// about says where and when h was said; project is the project as shown.
func (h *hitLine) about(j *job, project string) string {
	var about []string
	for _, s := range []string{render.Line(h.Agent), project, ago(h.Time, j.Now())} {
		if s != "" {
			about = append(about, s)
		}
	}
	if h.Turn > 0 {
		about = append(about, fmt.Sprintf("turn %d", h.Turn))
	}
	if h.Rewound {
		about = append(about, "taken back")
	}
	if h.Count > 1 {
		about = append(about, count(h.Count, "hit"))
	}
	return strings.Join(about, " · ")
}

// text returns the snippet with the matches in color, or without colors between
// asterisks.
func (h *hitLine) text(p prose.Paint, width int) string {
	var b strings.Builder
	if h.Role != "" { // titles and summaries have no role
		b.WriteString(string(h.Role) + ": ")
	}
	for _, s := range h.Snippet {
		text := strings.Join(strings.FieldsFunc(render.Clean(s.Text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
		switch {
		case !s.Match:
			b.WriteString(text)
		case p.On:
			b.WriteString(p.Yellow(text))
		default:
			b.WriteString("*" + text + "*")
		}
	}
	text := b.String()
	if width > 0 {
		text = ansi.Wrap(text, max(width-2, 16), "")
	}
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}
