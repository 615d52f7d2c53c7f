package price

import (
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
)

// A SpendingBudget is how much a person wants to use in a period, of all sessions or of those
// of a project or an agent.
type SpendingBudget struct {
	Per     BudgetPeriod `json:"per" toml:"per"`
	USD     float64      `json:"usd,omitempty" toml:"usd"`
	Tokens  int64        `json:"tokens,omitempty" toml:"tokens"` // read and written, cached ones included; one of USD and Tokens is set
	Project string       `json:"project,omitempty" toml:"project"`
	Agent   string       `json:"agent,omitempty" toml:"agent"`
}

// A BudgetPeriod is the time that a budget is for. It begins at midnight.
type BudgetPeriod string

// The periods of budgets. A week begins on Monday.
const (
	PerDay   BudgetPeriod = "day"
	PerWeek  BudgetPeriod = "week"
	PerMonth BudgetPeriod = "month"
)

// Near is the share of a budget, in percent, from which a person is told about it.
const Near = 80

// Check checks b. The error says what is wrong with it.
func (b *SpendingBudget) Check() error {
	switch {
	case b.Per != PerDay && b.Per != PerWeek && b.Per != PerMonth:
		return fmt.Errorf("per %q: want day, week or month", b.Per)
	case (b.USD > 0) == (b.Tokens > 0) || b.USD < 0 || b.Tokens < 0:
		return errors.New("want usd or tokens, above 0")
	}
	return nil
}

// String says how much of what b is: "$20.00 (day, codex)".
func (b SpendingBudget) String() string {
	all := fmt.Sprintf("$%.2f", b.USD)
	if b.Tokens > 0 {
		all = fmt.Sprintf("%d tokens", b.Tokens)
	}
	of := string(b.Per)
	for _, text := range []string{b.Agent, b.Project} {
		if text != "" {
			of += ", " + text
		}
	}
	return all + " (" + of + ")"
}

// Since returns when the period of b began that now is in.
func (b *SpendingBudget) Since(now time.Time) time.Time {
	y, m, d := now.Date()
	switch b.Per {
	case PerWeek:
		d -= (int(now.Weekday()) + 6) % 7
	case PerMonth:
		d = 1
	}
	return time.Date(y, m, d, 0, 0, 0, 0, now.Location())
}

// A Spent is how much of a budget is used.
type Spent struct {
	SpendingBudget
	Since   skein.Time `json:"since"`
	Used    float64    `json:"used" doc:"dollars or tokens"`
	Percent int        `json:"percent"`
	Partial bool       `json:"partial,omitempty" doc:"some of the models have no known price, so more is used"`
}

// Spent returns how much of b is used; sum is of its sessions, in its period.
func (b *SpendingBudget) Spent(sum Sum, now time.Time) Spent {
	s := Spent{SpendingBudget: *b, Since: skein.At(b.Since(now))}
	if b.Tokens > 0 {
		s.Used = float64(sum.Usage.Tokens())
		s.Percent = int(s.Used * 100 / float64(b.Tokens))
		return s
	}
	s.Used, s.Partial = float64(sum.Cost)/1e9, len(sum.Unpriced) > 0
	s.Percent = int(s.Used * 100 / b.USD)
	return s
}

// String says how much is used: "82 % of $20.00 (day)".
func (s Spent) String() string {
	least := ""
	if s.Partial {
		least = "at least "
	}
	return fmt.Sprintf("%s%d %% of %s", least, s.Percent, s.SpendingBudget)
}
