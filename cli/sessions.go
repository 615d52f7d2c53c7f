package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// sessions returns the sessions that match f.
func (j *job) sessions(ctx context.Context, f skein.Filter) (found []skein.Session, err error) {
	for s, err := range j.store.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

// A sessionLine is a session in JSON: its totals, its name, and its cost (without
// its children), null if a price is not known. If present, locked_by says who works
// on it, uncertain how many calls have an unknown outcome, and open_calls names the
// calls that run, or ran when a program died.
type sessionLine struct {
	skein.Session
	Name string   `json:"name"`
	Cost *float64 `json:"cost_usd"`
}

func writeSessions(w io.Writer, ss []skein.Session, costs map[skein.SessionID]price.Sum) error {
	for i := range ss {
		if err := writeJSON(w, sessionLine{ss[i], ss[i].Name(), costs[ss[i].ID].USD()}); err != nil {
			return err
		}
	}
	return nil
}

// pipedTitle and pipedText are the widths, in columns, of a title and of other text
// in a pipe; JSON and --wide have all of the text.
const pipedTitle, pipedText = 80, 40

// sessionTable returns ss as a table. Columns whose rank is the constant never are
// shown only on request.
func (j *job) sessionTable(ss []skein.Session, costs map[skein.SessionID]price.Sum) *table {
	p, now := j.paint, j.Now()
	t := &table{columns: []column{
		{title: "ID", rank: 1, paint: p.Cyan},
		{title: "", rank: 2},
		{title: "TITLE", rank: 0, min: 19, piped: pipedTitle},
		{title: "AGENT", rank: 6, min: 11},
		{title: "PROJECT", rank: 4, min: 14, left: true, piped: pipedText},
		{title: "CREATED", rank: 9, paint: p.Dim},
		{title: "UPDATED", rank: 3, paint: p.Dim},
		{title: "TURNS", rank: 8, right: true},
		{title: "MSGS", rank: 5, right: true},
		{title: "COST", rank: 7, right: true},
		{title: "LAST PROMPT", rank: 10, min: 24, paint: p.Dim, piped: pipedText},
		{title: "STATE", rank: 3, min: 24, paint: p.Yellow},
		{title: "SURFACE", rank: never},
		{title: "KEY", rank: never, piped: pipedText},
	}}
	for i, id := range shortIDs(ss) {
		s := &ss[i]
		t.rows = append(t.rows, []string{
			id, marks(s), render.Line(s.Name()), render.Line(agentOf(s)), render.Line(j.tilde(s.Project)),
			ago(s.Created, now), ago(s.Updated, now), strconv.Itoa(s.Turns), strconv.Itoa(s.Messages),
			costs[s.ID].Money(), render.Line(s.LastPrompt), stateOf(s), render.Line(s.Surface), render.Line(s.Key),
		})
	}
	if j.Terminal.Out && allOf(ss, ss[0].Project) {
		t.columns[4].rank = 11 // it adds no information
	}
	if slices.ContainsFunc(ss, func(s skein.Session) bool { return s.Surface != ss[0].Surface }) {
		t.columns[12].rank = 6
	}
	return t
}

// allOf reports whether all of ss belong to this project.
func allOf(ss []skein.Session, project string) bool {
	return !slices.ContainsFunc(ss, func(s skein.Session) bool { return s.Project != project })
}

// marks returns the marks of s: * pinned, > a fork, + a child, ! in use, ? damaged.
func marks(s *skein.Session) (m string) {
	if s.Pinned {
		m += "*"
	}
	if s.Parent != nil {
		switch s.Parent.Why {
		case skein.Fork:
			m += ">"
		case skein.Child:
			m += "+"
		}
	}
	if s.LockedBy != "" {
		m += "!"
	}
	if s.Damaged {
		m += "?"
	}
	return m
}

// agentOf returns the agent of s and its profile, unless the profile is the agent's
// file.
func agentOf(s *skein.Session) string {
	if s.Profile != "" && !filepath.IsAbs(s.Profile) {
		return s.Agent + "/" + s.Profile
	}
	return s.Agent
}
