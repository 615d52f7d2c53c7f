package sessions

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// Matching returns the sessions that match f.
//
// The error is that of the store.
func Matching(ctx context.Context, j *job.Job, f skein.Filter) (found []skein.Session, err error) {
	for s, err := range j.Store.Sessions(ctx, f) {
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

// WriteAll prints each session as JSON on a line. The error is that of writing to w.
func WriteAll(w io.Writer, ss []skein.Session, costs map[skein.SessionID]price.Sum) error {
	for i := range ss {
		if err := job.WriteJSON(w, sessionLine{ss[i], ss[i].Name(), costs[ss[i].ID].USD()}); err != nil {
			return err
		}
	}
	return nil
}

// Table returns ss as a table. Columns whose rank is the constant never are
// shown only on request.
func Table(j *job.Job, ss []skein.Session, costs map[skein.SessionID]price.Sum) *terminal.Table {
	p, now := j.Paint, j.Now()
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "ID", Rank: 1, Paint: p.Cyan},
		{Title: "", Rank: 2},
		{Title: "TITLE", Rank: 0, Min: 19},
		{Title: "AGENT", Rank: 6, Min: 11},
		{Title: "PROJECT", Rank: 4, Min: 14, Left: true},
		{Title: "CREATED", Rank: 9, Paint: p.Dim},
		{Title: "UPDATED", Rank: 3, Paint: p.Dim},
		{Title: "TURNS", Rank: 8, Right: true},
		{Title: "MSGS", Rank: 5, Right: true},
		{Title: "COST", Rank: 7, Right: true},
		{Title: "LAST PROMPT", Rank: 10, Min: 24, Paint: p.Dim},
		{Title: "STATE", Rank: -1, Min: 24, Paint: p.Yellow},
		{Title: "SURFACE", Rank: terminal.Never, Min: 8},
		{Title: "KEY", Rank: terminal.Never, Min: 16},
	}}
	for i, id := range shortIDs(ss) {
		s := &ss[i]
		t.Rows = append(t.Rows, []string{
			id, Marks(s), render.Line(s.Name()), render.Line(AgentOf(s)), render.Line(j.Tilde(s.Project)),
			terminal.Ago(s.Created, now), terminal.Ago(s.Updated, now), strconv.Itoa(s.Turns), strconv.Itoa(s.Messages),
			costs[s.ID].Money(), render.Line(s.LastPrompt), StateOf(s), render.Line(s.Surface), render.Line(s.Key),
		})
	}
	if j.Terminal.Out && allOf(ss, ss[0].Project) {
		t.Columns[4].Rank = 11 // it adds no information
	}
	if slices.ContainsFunc(ss, func(s skein.Session) bool { return s.Surface != ss[0].Surface }) {
		t.Columns[12].Rank = 6
	}
	return t
}

// allOf reports whether all of ss belong to this project.
func allOf(ss []skein.Session, project string) bool {
	return !slices.ContainsFunc(ss, func(s skein.Session) bool { return s.Project != project })
}

// Marks returns the marks of s: * pinned, > a fork, + a child, ! in use, ? damaged.
func Marks(s *skein.Session) (m string) {
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

// AgentOf returns the agent of s and its profile, unless the profile is the agent's
// file.
func AgentOf(s *skein.Session) string {
	if s.Profile != "" && !filepath.IsAbs(s.Profile) {
		return s.Agent + "/" + s.Profile
	}
	return s.Agent
}

// StateOf says what a person should know about s before continuing it: who works
// on it, and which calls have an unknown outcome; "" if there is nothing.
func StateOf(s *skein.Session) string {
	var all []string
	if s.LockedBy != "" {
		all = append(all, "in use by "+render.Line(s.LockedBy))
	}
	if s.Uncertain > 0 {
		all = append(all, terminal.Count(s.Uncertain, "call")+" with unknown outcome")
	}
	if n := len(s.Open); n > 0 && s.LeftRunning() {
		all = append(all, terminal.Count(n, "call")+" left running by a program that died")
	}
	if s.Gone != 0 {
		all = append(all, "gone at its source")
	}
	if s.Damaged {
		all = append(all, "damaged: run skein doctor")
	}
	return strings.Join(all, "; ")
}

// few is up to how many sessions usage is queried by their IDs; for more, all usage
// is read.
const few = 200

// Costs returns what each of ss cost by itself, without its children and without
// what a fork shares with its parent.
//
// The error is that of the store, or says which price in the settings is not
// accepted.
func Costs(ctx context.Context, j *job.Job, ss []skein.Session) (map[skein.SessionID]price.Sum, error) {
	at := make(map[skein.SessionID]skein.Time, len(ss))
	for _, s := range ss {
		if s.Usage != (skein.Usage{}) {
			at[s.ID] = s.Updated
		}
	}
	if len(at) == 0 {
		return nil, nil
	}
	table, err := price.Load(j.Settings.Prices...)
	if err != nil {
		return nil, err
	}
	sum := make(map[skein.SessionID]price.Sum, len(ss))
	q := skein.UsageQuery{By: skein.BySession}
	if len(at) <= few {
		q.Sessions = slices.Collect(maps.Keys(at))
	}
	rows, err := j.Store.Usage(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		id := skein.SessionID(r.Of)
		if t, asked := at[id]; asked {
			sum[id] = sum[id].Plus(table.Sum([]skein.UsageRow{r}, t))
		}
	}
	return sum, nil
}
