package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// A sessionHead is the heading above a whole session.
type sessionHead struct {
	title string
	about []string // ID; where, with whom and when it was, how long; cost
}

// headOf returns the heading of s. If the cost cannot be determined, it says so and
// shows the rest.
func (o *showOptions) headOf(ctx context.Context, j *job, s skein.Session) sessionHead {
	costs, err := j.costs(ctx, []skein.Session{s})
	if err != nil {
		j.say("what it cost is not known: %s", sentence(err))
	}
	cost := costs[s.ID].Costs()
	if cost == "?" {
		cost = "cost not known"
	}
	created := stamp(s.Created, j.Now())
	if created != "" {
		created = "created " + created
	}
	s = o.curtain.session(s)
	var facts []string
	for _, f := range []string{j.tilde(cmp.Or(s.Project, s.Cwd)), s.Agent, created, count(s.Turns, "turn"), cost} {
		if f = render.Line(f); f != "" {
			facts = append(facts, f)
		}
	}
	return sessionHead{render.Line(s.Title), []string{string(s.ID), strings.Join(facts, " · ")}}
}

// begin writes the heading of a session.
func (t *transcript) begin(h sessionHead) {
	p := t.j.paint
	if h.title != "" {
		t.print(p.Bold(t.wrap(h.title)) + "\n")
	}
	for _, line := range h.about {
		t.print(p.Dim(t.wrap(line)) + "\n")
	}
	t.begun = true
}

// wrap breaks a line at the width of the terminal.
func (t *transcript) wrap(line string) string {
	if t.width == 0 {
		return line
	}
	return ansi.Wrap(line, t.width, "")
}
