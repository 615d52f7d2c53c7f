package sessions

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/price"
)

// Budgets returns how much of each budget is used that wanted selects; nil selects all.
//
// The error is the store's, or that of the prices.
func Budgets(ctx context.Context, j *job.Job, wanted func(b *price.SpendingBudget, repository string) bool) (all []price.Spent, err error) {
	for _, b := range j.Settings.Budgets {
		q := skein.UsageQuery{By: skein.ByDay, Since: skein.At(b.Since(j.Now())), Zone: j.Now().Location(), Agent: b.Agent, Project: b.Project}
		if b.Project != "" {
			x, _ := j.Checkout(b.Project)
			q.Repository = x.Repository
		}
		if wanted != nil && !wanted(&b, q.Repository) {
			continue
		}
		table, err := price.Load(j.Settings.Prices...)
		if err != nil {
			return nil, err
		}
		rows, err := j.Whole.Usage(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, b.Spent(price.Total(table.Sums(rows, q.By)), j.Now()))
	}
	return all, nil
}

// NearBudgets says which budgets are nearly used, or used up. Errors are those of
// [Budgets].
func NearBudgets(ctx context.Context, j *job.Job) (notes []string, err error) {
	all, err := Budgets(ctx, j, nil)
	for i := range all {
		if all[i].Percent >= price.Near {
			notes = append(notes, all[i].String())
		}
	}
	return notes, err
}
