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
