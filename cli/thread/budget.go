package thread

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/price"
)

// withinBudget stops before a turn if a budget is used up that the session counts
// for, unless the person lets it go on. It asks once for each budget and period.
//
// The error says which budget is used up, or is the store's.
func (t *Thread) withinBudget(ctx context.Context) error {
	if t.Options.OverBudget || len(t.Job.Settings.Budgets) == 0 {
		return nil
	}
	all, err := sessions.Budgets(ctx, t.Job, func(b *price.SpendingBudget, repository string) bool {
		q := skein.UsageQuery{Project: b.Project, Repository: repository}
		x, _ := t.Job.Checkout(t.Cwd())
		return (b.Agent == "" || b.Agent == t.Team.Agent.Name) && q.In(t.At.Project(), x.Repository)
	})
	if err != nil {
		return err
	}
	for _, s := range all {
		name := fmt.Sprint(s.SpendingBudget, s.Since, s.Percent >= 100)
		if s.Percent < price.Near || slices.Contains(t.budgets, name) {
			continue
		}
		if s.Percent >= 100 {
			if err := t.face.overBudget(ctx, s); err != nil {
				return err
			}
		} else {
			t.face.Tell("budget: %s", s)
		}
		t.budgets = append(t.budgets, name)
	}
	return nil
}

// overBudget asks whether to go on though a budget is used up.
func (f *Face) overBudget(ctx context.Context, s price.Spent) error {
	over := fault.Advise(fmt.Errorf("the budget is used up: %s", s), "to go on anyway: --over-budget; to change it: skein help config")
	if f.Ask == nil {
		return over
	}
	r, err := f.Ask(ctx, job.Question{Text: fmt.Sprintf("The budget is used up: %s. Go on?", s)})
	if err == nil && r == job.No {
		err = over
	}
	return err
}
