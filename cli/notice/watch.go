package notice

import (
	"context"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/store/activity"
)

// A Channel brings notices somewhere.
type Channel struct {
	Name string
	Send func(context.Context, Notice) error
}

// How often sessions and budgets are looked at.
const (
	lookEvery    = 2 * time.Second
	budgetsEvery = time.Minute
)

// recent is how long ago a session may have been active last.
const recent = 12 * time.Hour

// Watch sends notices until ctx ends. What it cannot find out or send it tells on
// stderr, once for each reason.
func Watch(ctx context.Context, j *job.Job, channels []Channel) {
	h, told := newLookedAt(), map[string]bool{}
	tell := func(what string, err error) {
		if err != nil && ctx.Err() == nil && !told[what+err.Error()] {
			told[what+err.Error()] = true
			j.Say("%s: %v", what, err)
		}
	}
	after := time.Duration(j.Settings.Notify.DoneAfter) * time.Minute
	var next time.Time // when budgets are due
	for ctx.Err() == nil {
		lines, err := look(ctx, j)
		tell("notices of sessions", err)
		var budgets []price.Spent
		if !j.Now().Before(next) {
			next = j.Now().Add(budgetsEvery)
			budgets, err = sessions.Budgets(ctx, j, nil)
			tell("notices of budgets", err)
		}
		if ctx.Err() != nil {
			return
		}
		for _, n := range h.news(lines, budgets, after, j.Now()) {
			if !j.Settings.Notify.Wants(n.About) {
				continue
			}
			for _, s := range channels {
				tell("notice by "+s.Name, s.Send(ctx, n))
			}
		}
		_ = sleep.For(ctx, lookEvery) //nolint:errcheck // the loop ends with ctx
	}
}

// look returns what the newest sessions are doing, without secrets.
func look(ctx context.Context, j *job.Job) (lines []activity.Line, err error) {
	all, err := activity.All(ctx, j.Whole, skein.Filter{NoChildren: true, Since: skein.At(j.Now().Add(-recent))}, skein.At(j.Now()), sessions.Probes(j))
	hide := sessions.Secrets(false).Mask()
	for n := range slices.Values(all) {
		n.Session, n.Text = hide.Session(n.Session), hide.Text(n.Text)
		lines = append(lines, n.Line())
	}
	return lines, err
}
