package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/status"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/lookup"
)

// A usageCheck is what --check found, in JSON.
type usageCheck struct {
	Sessions int                 `json:"sessions"` // that used anything
	Total    price.UsageLine     `json:"total"`
	Differs  []checkedUsage      `json:"differences"` // the largest first
	Unpriced []string            `json:"unpriced_models,omitempty"`
	Wrong    []wrongUsage        `json:"wrong_sums,omitempty"`
	Windows  []status.PlanWindow `json:"windows,omitempty"`
}

// A checkedUsage is what a session used of a model, where the recorded cost differs.
type checkedUsage struct {
	Session  skein.SessionID `json:"session"`
	Name     string          `json:"name,omitempty"`
	Agent    string          `json:"agent,omitempty"`
	Model    string          `json:"model,omitempty"`
	Requests int64           `json:"requests"`
	Tokens   int64           `json:"tokens"`
	Recorded float64         `json:"recorded_usd"`
	Same     float64         `json:"recorded_priced_usd"` // what the same requests cost by our prices
}

// A wrongUsage is a sum of the store that does not agree with its events.
type wrongUsage struct {
	Session skein.SessionID `json:"session"`
	Tokens  int64           `json:"tokens"`
	Stored  int64           `json:"stored_tokens"`
}

// recount counts all usage again.
func (o *usageOptions) recount(ctx context.Context, j *job.Job, q skein.UsageQuery, table *price.List) error {
	done := sessions.AroundDamage(j)
	all, err := everySession(ctx, j)
	if err != nil {
		return err
	}
	r := price.NewRecount(table, q.Since, q.Until)
	for i := range all.order {
		if err := all.add(ctx, j, r, all.order[i]); err != nil {
			return err
		}
	}
	sums := slices.DeleteFunc(r.Sums(), func(s price.RecountSum) bool {
		of := all.byID[s.Session]
		return q.Agent != "" && of.Agent != q.Agent || !q.In(of.Project, of.Checkout.Repository)
	})
	c, err := newUsageCheck(ctx, j, q, all, sums, r.Shares)
	if err != nil {
		return err
	}
	if o.json {
		err = job.WriteJSON(j.Stdout, c)
	} else {
		err = o.showCheck(ctx, j, c)
	}
	if err == nil && len(c.Wrong) > 0 {
		err = fault.Advise(fmt.Errorf("the sums of %s differ from their events", terminal.Count(len(c.Wrong), "session")), "see what can be repaired: skein doctor")
	}
	return done(err)
}

// sessionsByAge are all sessions, those that began first before the others.
type sessionsByAge struct {
	order []*skein.Session
	byID  map[skein.SessionID]*skein.Session
}

func everySession(ctx context.Context, j *job.Job) (all sessionsByAge, err error) {
	all.byID = map[skein.SessionID]*skein.Session{}
	for _, bin := range []bool{false, true} {
		for s, err := range j.Store.Sessions(ctx, skein.Filter{IncludeEmpty: true, Bin: bin}) {
			if err != nil {
				return all, err
			}
			all.order, all.byID[s.ID] = append(all.order, &s), &s
		}
	}
	slices.SortFunc(all.order, func(a, b *skein.Session) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// add counts the events that are the session's own: a fork has those of a parent that was
// purged.
func (all *sessionsByAge) add(ctx context.Context, j *job.Job, r *price.Recount, s *skein.Session) error {
	after := s.Base
	if s.Parent.IsFork() && all.byID[s.Parent.Session] == nil {
		after = 0
	}
	for e, err := range j.Store.Events(ctx, s.ID, after) {
		switch {
		case errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrDeleted):
			return nil // purged meanwhile
		case err != nil:
			return err
		}
		add := r.Add
		if e.Seq <= s.Base {
			add = r.AddMoved
		}
		if err := add(s, e); err != nil {
			return err
		}
	}
	return nil
}

// newUsageCheck compares what was counted with what was recorded, and with what the store
// keeps; the latter cannot be told of a session that shares a request with another.
func newUsageCheck(ctx context.Context, j *job.Job, q skein.UsageQuery, all sessionsByAge, sums []price.RecountSum, shares func(skein.SessionID) bool) (*usageCheck, error) {
	windows, err := status.PlanWindows(ctx, j)
	if err != nil {
		return nil, err
	}
	c := &usageCheck{Differs: []checkedUsage{}, Windows: windows}
	var total price.Sum
	tokens := map[skein.SessionID]int64{}
	hide := sessions.Secrets(false).Mask()
	for _, s := range sums {
		total = total.Plus(s.Sum)
		tokens[s.Session] += s.Usage.Tokens()
		if s.NoPrice {
			c.Unpriced = append(c.Unpriced, cmp.Or(s.Model, "an unnamed model"))
		}
		if !s.IsOff() {
			continue
		}
		of, line := hide.Session(*all.byID[s.Session]), s.Line()
		c.Differs = append(c.Differs, checkedUsage{of.ID, of.Name(), of.Agent, s.Model, s.Usage.Requests, s.Usage.Tokens(), *line.Recorded, *line.Same})
	}
	slices.Sort(c.Unpriced)
	c.Unpriced = slices.Compact(c.Unpriced)
	c.Sessions, c.Total = len(tokens), total.Line()
	if q.Since != 0 || q.Until != 0 {
		return c, nil // the store divides a request between the times of its records
	}
	q.By = skein.BySession
	rows, err := j.Store.Usage(ctx, q)
	stored := map[skein.SessionID]int64{}
	for _, row := range rows {
		stored[skein.SessionID(row.Of)] += row.Usage.Tokens()
	}
	for _, s := range all.order {
		if tokens[s.ID] != stored[s.ID] && !shares(s.ID) {
			c.Wrong = append(c.Wrong, wrongUsage{s.ID, tokens[s.ID], stored[s.ID]})
		}
	}
	return c, err
}

func (o *usageOptions) showCheck(ctx context.Context, j *job.Job, c *usageCheck) error {
	t := &terminal.Table{Columns: []terminal.Column{
		{Title: "SESSION", Rank: 0, Paint: j.Paint.Cyan},
		{Title: "TITLE", Rank: 5, Min: 16},
		{Title: "AGENT", Rank: 3, Min: 11},
		{Title: "MODEL", Rank: 4, Min: 12},
		{Title: "REQUESTS", Rank: 7, Right: true},
		{Title: "TOKENS", Rank: 6, Right: true},
		{Title: "COST", Rank: 1, Right: true},
		{Title: "RECORDED", Rank: 1, Right: true},
		{Title: "DIFFERENCE", Rank: 2, Right: true},
	}}
	ids := make([]skein.SessionID, len(c.Differs))
	for i := range c.Differs {
		ids[i] = c.Differs[i].Session
	}
	for i, id := range lookup.ShortIDs(ids) {
		if o.limit > 0 && i >= o.limit {
			break
		}
		d := &c.Differs[i]
		t.Rows = append(t.Rows, []string{
			id, render.Line(d.Name), render.Line(d.Agent), render.Line(d.Model), thousands(d.Requests), thousands(d.Tokens),
			dollars(d.Same), dollars(d.Recorded), fmt.Sprintf("%+.2f", d.Recorded-d.Same),
		})
	}
	if len(t.Rows) > 0 {
		if err := j.Page(ctx, func(w io.Writer) error { return j.Table(w, t) }); err != nil {
			return err
		}
	}
	j.Say("counted again: %s of %s, %s tokens, %s", terminal.Count(int(c.Total.Requests), "request"), terminal.Count(c.Sessions, "session"), render.Count(c.Total.Input+c.Total.Output+c.Total.Read+c.Total.Write), dollars(c.Total.Known))
	if r := &c.Total; r.Recorded == nil {
		j.Say("no agent recorded a cost")
	} else {
		j.Say("recorded by the agents: %s for what costs %s by our prices; it differs in %s", dollars(*r.Recorded), dollars(*r.Same), terminal.Count(len(c.Differs), "case"))
	}
	if len(c.Unpriced) > 0 {
		j.Say("no price is known of: %s\nto set one, see: skein help config", render.Line(strings.Join(c.Unpriced, ", ")))
	}
	for _, w := range c.Wrong {
		j.Say("session %s: the store has a sum of %s tokens, its events have %s", sessions.ShortID(w.Session), render.Count(w.Stored), render.Count(w.Tokens))
	}
	tellWindows(j, c.Windows)
	return nil
}

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

// tellWindows says how much of each subscription is used: that is no matter of dollars.
func tellWindows(j *job.Job, all []status.PlanWindow) {
	for _, agent := range []struct{ id, name string }{{"claude-code", "Claude Code"}, {"codex", "Codex"}} {
		var parts []string
		for _, w := range all {
			if w.Agent == agent.id {
				parts = append(parts, w.Text(j.Now()))
			}
		}
		if parts != nil {
			j.Say("used of the subscription to %s: %s", agent.name, strings.Join(parts, "; "))
		}
	}
}
