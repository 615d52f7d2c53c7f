package status

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/price"
)

// Figures are what the line needs of the store.
type Figures struct {
	At       skein.Time    `json:"at"`
	Store    string        `json:"store"`
	Today    Amount        `json:"today"`
	Window   Amount        `json:"window"` // the 5-hour window
	Since    skein.Time    `json:"since"`  // when that began
	Budgets  []price.Spent `json:"budgets,omitempty"`
	Sessions []Session     `json:"sessions,omitempty"` // the newest first
}

// An Amount is what something costs.
type Amount struct {
	USD     float64 `json:"usd"`
	Partial bool    `json:"partial,omitempty"` // some models have no known price, so it costs more
}

func amount(s price.Sum) Amount { return Amount{float64(s.Cost) / 1e9, len(s.Unpriced) > 0} }

// A Session is what the line says of one.
type Session struct {
	ID      skein.SessionID `json:"id"`
	Own     string          `json:"own,omitempty"` // its ID in the program that it was imported from
	Project string          `json:"project,omitempty"`
	Model   string          `json:"model,omitempty"`
	Cost    Amount          `json:"cost"`
	Context int64           `json:"context,omitempty"` // tokens of the last request
	Room    int64           `json:"room,omitempty"`    // tokens that the model can read; 0 if not known
}

// How much of the store is looked at.
const (
	recent = 12 * time.Hour
	most   = 20 // sessions
)

// windowSpan is how long the shorter window of a subscription is.
const windowSpan = 5 * time.Hour

// Take works the figures out. The error is the store's, or that of the prices.
func Take(ctx context.Context, j *job.Job) (f Figures, err error) {
	table, err := price.Load(j.Settings.Prices...)
	if err != nil {
		return f, err
	}
	now := j.Now()
	began := now.Add(-windowSpan)
	if l := readLimits(j); l.Five.resets(now) {
		began = l.Five.Resets.Std().Add(-windowSpan)
	}
	f = Figures{At: skein.At(now), Store: j.Place.String(), Since: skein.At(began)}
	total := func(q skein.UsageQuery) (price.Sum, error) {
		q.By, q.Zone = skein.ByDay, now.Location()
		rows, err := j.Store.Usage(ctx, q)
		return price.Total(table.Sums(rows, q.By)), err
	}
	day := price.SpendingBudget{Per: price.PerDay}
	today, err := total(skein.UsageQuery{Since: skein.At(day.Since(now))})
	if err != nil {
		return f, err
	}
	window, err := total(skein.UsageQuery{Since: f.Since, Agent: "claude-code"})
	if err != nil {
		return f, err
	}
	f.Today, f.Window = amount(today), amount(window)
	if f.Budgets, err = sessions.Budgets(ctx, j, nil); err != nil {
		return f, err
	}
	return f, f.sessions(ctx, j, table)
}

// sessions enters the sessions that somebody may look at now.
func (f *Figures) sessions(ctx context.Context, j *job.Job, table *price.List) error {
	var ids []skein.SessionID
	at := map[string]int{}
	hide := sessions.Secrets(false).Mask()
	for s, err := range j.Store.Sessions(ctx, skein.Filter{NoChildren: true, Since: skein.At(j.Now().Add(-recent)), Limit: most}) {
		if err != nil {
			return err
		}
		one := Session{ID: s.ID, Project: s.Project, Model: hide.Text(s.Model), Room: table.Window(s.Provider, s.Model)}
		if s.Origin != nil {
			one.Own = cmp.Or(s.Origin.ID, string(s.ID))
		}
		last, err := j.Store.Newest(ctx, s.ID, lastMessages, 0)
		if err != nil {
			continue // damaged, or deleted meanwhile
		}
		for _, e := range last {
			if u := e.Message.Usage; u != nil {
				one.Context = u.Input + u.CacheRead + u.CacheWrite + u.Output
			}
		}
		at[string(s.ID)] = len(f.Sessions)
		f.Sessions, ids = append(f.Sessions, one), append(ids, s.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := j.Store.Usage(ctx, skein.UsageQuery{By: skein.BySession, Sessions: ids})
	for _, s := range table.Sums(rows, skein.BySession) {
		f.Sessions[at[s.Of]].Cost = amount(s)
	}
	return err
}

// lastMessages is how far back the last request is looked for: calls of tools and
// their results follow it.
const lastMessages = 12

func file(j *job.Job) string { return filepath.Join(j.Dirs.State, "statusline.json") }

// read returns the figures that were kept last, the zero value if none of this store
// were, and whether to find newer ones out: nobody was asked to for a while.
func read(j *job.Job) (f Figures, due bool) {
	info, err := os.Stat(file(j))
	if err != nil {
		return f, true
	}
	age := j.Now().Sub(info.ModTime())
	text, err := os.ReadFile(file(j))
	if err != nil || json.Unmarshal(text, &f) != nil || f.Store != j.Place.String() {
		f = Figures{}
	}
	return f, age >= renewEvery || age <= -renewEvery
}

// keep keeps the figures for the next line. The error is the file system's.
func (f *Figures) keep(j *job.Job) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.Dirs.State, 0o700); err != nil {
		return err
	}
	if err := config.ReplaceFile(file(j), text); err != nil {
		return err
	}
	return os.Chtimes(file(j), j.Now(), j.Now())
}
