package price_test

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

func TestABudgetHasAPeriod(t *testing.T) {
	sunday := time.Date(2026, 11, 29, 23, 0, 0, 0, time.FixedZone("", 3600))
	for per, want := range map[price.BudgetPeriod]string{
		price.PerDay: "2026-11-29T00:00:00+01:00", price.PerWeek: "2026-11-23T00:00:00+01:00", price.PerMonth: "2026-11-01T00:00:00+01:00",
	} {
		b := price.SpendingBudget{Per: per, USD: 1}
		if got := b.Since(sunday).Format(time.RFC3339); got != want {
			t.Errorf("a %s began at %s, want %s", per, got, want)
		}
	}
}

func TestABudgetIsSpent(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		b    price.SpendingBudget
		sum  price.Sum
		want string
	}{
		{price.SpendingBudget{Per: price.PerDay, USD: 20}, price.Sum{Cost: 16_500_000_000}, "82 % of $20.00 (day)"},
		{price.SpendingBudget{Per: price.PerWeek, USD: 20, Agent: "codex"}, price.Sum{Cost: 40_000_000_000, Unpriced: []string{"m"}}, "at least 200 % of $20.00 (week, codex)"},
		{price.SpendingBudget{Per: price.PerMonth, Tokens: 10000, Project: "/p"}, price.Sum{Usage: skein.Usage{Input: 1000, Output: 1000, Reasoning: 500, CacheRead: 5000, CacheWrite: 999}}, "79 % of 10000 tokens (month, /p)"},
	} {
		if got := c.b.Spent(c.sum, now).String(); got != c.want {
			t.Errorf("%+v of %+v is %q, want %q", c.sum, c.b, got, c.want)
		}
	}
}

func TestABudgetIsChecked(t *testing.T) {
	for _, b := range []price.SpendingBudget{{}, {Per: "year", USD: 1}, {Per: price.PerDay}, {Per: price.PerDay, USD: 1, Tokens: 1}, {Per: price.PerDay, USD: -1}, {Per: price.PerDay, USD: 1, Tokens: -1}} {
		if b.Check() == nil {
			t.Errorf("%+v is accepted", b)
		}
	}
	if err := (&price.SpendingBudget{Per: price.PerDay, Tokens: 1}).Check(); err != nil {
		t.Error(err)
	}
}
