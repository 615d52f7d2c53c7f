package codex

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func TestWindowsOfARecord(t *testing.T) {
	record := func(limits string) string {
		return `{"timestamp":"2026-11-21T10:00:00.000Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":` + limits + `}}`
	}
	at := func(text string) skein.Time {
		u, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return skein.At(u)
	}
	week := RateWindow{40, 7 * 24 * time.Hour, at("2026-11-24T12:00:00Z")}
	for name, c := range map[string]struct {
		raw  string
		want []RateWindow
	}{
		"both": {
			record(`{"limit_id":"codex","primary":{"used_percent":12.5,"window_minutes":300,"resets_at":1795269600},"secondary":{"used_percent":40,"window_minutes":10080,"resets_at":1795521600},"plan_type":"plus"}`),
			[]RateWindow{{12.5, 5 * time.Hour, at("2026-11-21T14:00:00Z")}, week},
		},
		"the week alone": {record(`{"primary":{"used_percent":40,"window_minutes":10080,"resets_at":1795521600},"secondary":null}`), []RateWindow{week}},
		"before October 2025": {
			record(`{"primary":{"used_percent":1,"window_minutes":299,"resets_in_seconds":60}}`),
			[]RateWindow{{1, 299 * time.Minute, at("2026-11-21T10:01:00Z")}},
		},
		"no subscription":     {record(`{"limit_id":"codex","primary":null,"secondary":null}`), nil},
		"null":                {record(`null`), nil},
		"of one model":        {record(`{"limit_id":"codex_other","primary":{"used_percent":1,"window_minutes":300,"resets_at":1795269600}}`), nil},
		"a text that says so": {`{"timestamp":"2026-11-21T10:00:00.000Z","type":"response_item","payload":{"type":"message","rate_limits":{"primary":{"used_percent":1}}}}`, nil},
		"a torn record":       {record(`null`)[:120], nil},
		"another type":        {record(`"many"`), nil},
	} {
		if diff := cmp.Diff(c.want, Windows([]byte(c.raw))); diff != "" {
			t.Errorf("%s: Windows() (-want +got):\n%s", name, diff)
		}
	}
}
