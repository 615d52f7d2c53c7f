package price_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

func TestSumsAddUpByValueTheDearestFirst(t *testing.T) {
	table, err := price.Load(price.Override{Model: "cheap", Input: 1}, price.Override{Model: "dear", Input: 100})
	if err != nil {
		t.Fatal(err)
	}
	row := func(of, model string) skein.UsageRow {
		return skein.UsageRow{Of: of, Model: model, Usage: skein.Usage{Input: 1e6, Requests: 1}}
	}
	got := table.Sums([]skein.UsageRow{row("a", "cheap"), row("a", "nobody's"), row("b", "dear"), row("a", "cheap"), row("c", "")}, skein.BySession)
	want := []struct {
		of, money string
		requests  int64
	}{{"b", "$100.00", 1}, {"a", ">$2.00", 3}, {"c", "?", 1}}
	if len(got) != len(want) {
		t.Fatalf("Sums = %+v, want %d", got, len(want))
	}
	for i, w := range want {
		if g := got[i]; g.Of != w.of || g.Money() != w.money || g.Usage.Requests != w.requests {
			t.Errorf("Sums[%d] = %s %s with %d requests, want %+v", i, g.Of, g.Money(), g.Usage.Requests, w)
		}
	}
	days := table.Sums([]skein.UsageRow{row("2026-11-21", "cheap"), row("2026-11-20", "dear")}, skein.ByDay)
	if days[0].Of != "2026-11-21" {
		t.Errorf("Sums by day begins with %s, want the order of the rows", days[0].Of)
	}
}

// The recorded cost is shown if it differs from ours of the same requests.
func TestWhatWasRecordedStandsBeside(t *testing.T) {
	table, err := price.Load(price.Override{Model: "dollar", Input: 1})
	if err != nil {
		t.Fatal(err)
	}
	row := func(model string, input, recorded int64) skein.UsageRow {
		u := skein.Usage{Input: input, Reported: recorded, Requests: 1}
		if recorded == 0 {
			return skein.UsageRow{Model: model, Usage: u}
		}
		return skein.UsageRow{Model: model, Usage: u, Recorded: u}
	}
	mixed := func(a, b skein.UsageRow) skein.UsageRow {
		a.Usage, a.Recorded = a.Usage.Plus(b.Usage), a.Recorded.Plus(b.Recorded)
		return a
	}
	same, other, none, unpriced := row("dollar", 2e6, 2_001_000_000), row("dollar", 1e6, 400_000_000), row("dollar", 5e6, 0), row("nobody's", 1, 300_000_000)
	free := row("dollar", 1, 900_000_000)
	for _, c := range []struct {
		rows                   []skein.UsageRow
		costs, recorded, money string
	}{
		{[]skein.UsageRow{same}, "$2.00", "", "$2.00"},
		{[]skein.UsageRow{same, none}, "$7.00", "", "$7.00"},
		{[]skein.UsageRow{mixed(same, none)}, "$7.00", "", "$7.00"},
		{[]skein.UsageRow{unpriced}, "$0.30", "", "$0.30"},
		{[]skein.UsageRow{mixed(unpriced, row("nobody's", 1, 0))}, ">$0.30", "", ">$0.30"},
		{[]skein.UsageRow{other}, "$1.00 (recorded: $0.40)", "$0.40", "$1.00"},
		{[]skein.UsageRow{mixed(other, none)}, "$6.00 (recorded: $0.40 vs. $1.00)", "$0.40 vs. $1.00", "$6.00"},
		{[]skein.UsageRow{same, other, none}, "$8.00 (recorded: $2.40 vs. $3.00)", "$2.40 vs. $3.00", "$8.00"},
		{[]skein.UsageRow{same, other, unpriced}, "$3.30 (recorded: $2.70)", "$2.70", "$3.30"},
		{[]skein.UsageRow{mixed(free, none)}, "$5.00 (recorded: $0.90 vs. <$0.01)", "$0.90 vs. <$0.01", "$5.00"},
	} {
		s := table.Sum(c.rows, 0)
		if s.Costs() != c.costs || s.Recorded() != c.recorded || s.Money() != c.money {
			t.Errorf("%+v costs %q, %q recorded, %q in all, want %q, %q, %q", c.rows, s.Money(), s.Recorded(), s.Costs(), c.money, c.recorded, c.costs)
		}
	}
}
