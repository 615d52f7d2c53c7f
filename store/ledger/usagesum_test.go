package ledger_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// Quarter hours sum to the days of any time zone.
func TestUsageSumFollowsTheZonesDays(t *testing.T) {
	at := func(s string) skein.Time {
		v, err := skein.ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	slots := []ledger.UsageSlot{
		{Slot: at("2026-11-20T18:15:00Z"), Model: "m", Usage: skein.Usage{Input: 1, Requests: 1}},
		{Slot: at("2026-11-20T18:30:00Z"), Model: "m", Usage: skein.Usage{Input: 10, Requests: 1}},
		{Slot: at("2026-11-21T00:00:00Z"), Model: "n", Usage: skein.Usage{Input: 100, Requests: 1}},
	}
	rows := func(q skein.UsageQuery) (out []skein.UsageRow) {
		sum := ledger.NewUsageSum(q)
		for _, s := range slots {
			sum.Add(s)
		}
		return sum.Rows()
	}
	kathmandu := time.FixedZone("+05:45", 345*60) // midnight is 18:15 UTC
	for _, c := range []struct {
		name string
		q    skein.UsageQuery
		want []skein.UsageRow
	}{
		{"UTC", skein.UsageQuery{By: skein.ByDay}, []skein.UsageRow{
			{Of: "2026-11-21", Model: "n", Usage: skein.Usage{Input: 100, Requests: 1}},
			{Of: "2026-11-20", Model: "m", Usage: skein.Usage{Input: 11, Requests: 2}},
		}},
		{"+05:45", skein.UsageQuery{By: skein.ByDay, Zone: kathmandu}, []skein.UsageRow{
			{Of: "2026-11-21", Model: "n", Usage: skein.Usage{Input: 100, Requests: 1}},
			{Of: "2026-11-21", Model: "m", Usage: skein.Usage{Input: 11, Requests: 2}},
		}},
		{"since and until", skein.UsageQuery{By: skein.ByModelID, Since: at("2026-11-20T18:31:00Z"), Until: at("2026-11-21T00:00:00Z")}, []skein.UsageRow{
			{Of: "m", Model: "m", Usage: skein.Usage{Input: 10, Requests: 1}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, rows(c.q)); diff != "" {
				t.Errorf("Rows (-want +got):\n%s", diff)
			}
		})
	}
}
