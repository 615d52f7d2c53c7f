package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/api"
)

func TestAZoneGoesOverTheWireByItsOffsets(t *testing.T) {
	zones := []*time.Location{time.FixedZone("x", 5*3600+45*60), time.FixedZone("y", -12*3600)}
	for _, name := range []string{"Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Tokyo", "Pacific/Apia"} {
		l, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		zones = append(zones, l)
	}
	for _, want := range zones {
		got, err := api.Location(api.ZoneOf(want))
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		for at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2037; at = at.Add(11 * time.Hour) {
			if a, b := at.In(want).Format(time.DateTime), at.In(got).Format(time.DateTime); a != b {
				t.Fatalf("%s at %v: %s, want %s", want, at, b, a)
			}
		}
	}
	if l, err := api.Location(api.ZoneOf(time.UTC)); l != nil || err != nil {
		t.Errorf("UTC comes back as %v, %v, want nil", l, err)
	}
}

func TestAnEntryComesBackWithItsBytes(t *testing.T) {
	payload := `{"role":"assistant","parts":[{"kind":"call","call":{"id":"c","name":"n","input":{ "a" : "<" }},"meta": [ 1 ]},` +
		`{"kind":"result","result":{"call_id":"c","text":"\ud800","raw": { } }},{"kind":"other","raw":null}],"meta":{"b":1, "b":2}}`
	m, err := skein.Decode[skein.Message](skein.Event{Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	for _, was := range []skein.Entry{{Seq: 1, End: 2, Turn: 3, Message: m}, {Seq: 4, Message: skein.UserSays("x"), Rewound: true}} {
		var got api.Entry
		line := skein.MustJSON(api.EntryOf(was))
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if diff := cmp.Diff(was, got.Exact()); diff != "" {
			t.Errorf("%s comes back otherwise:\n%s", line, diff)
		}
	}
}
