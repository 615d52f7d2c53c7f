package price_test

import (
	"fmt"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
)

// Each request is counted once, in the first session that mentions it, whatever it is
// mentioned in; a price applies from its day on.
func TestARecountCountsEachRequestOnce(t *testing.T) {
	table, err := price.Load(price.Override{Model: "dollar", Input: 1})
	if err != nil {
		t.Fatal(err)
	}
	at, err := skein.ParseTime("2026-11-20T10:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	const hour = 3_600_000
	said := func(at skein.Time, request string, input, reported int64) skein.Event {
		return skein.Say(at, skein.Message{Role: skein.RoleAssistant, Model: "dollar", Request: request, Usage: &skein.Usage{Input: input, Reported: reported}})
	}
	first, second := &skein.Session{ID: "a", User: "u"}, &skein.Session{ID: "b", User: "u"}
	other := &skein.Session{ID: "c", User: "v"}
	count := func(since, until skein.Time) string {
		r := price.NewRecount(table, since, until)
		add := func(s *skein.Session, e skein.Event) {
			t.Helper()
			if err := r.Add(s, e); err != nil {
				t.Fatal(err)
			}
		}
		add(first, said(at, "r1", 1e6, 0))
		add(first, skein.NewEvent(skein.KindStep, at+1, skein.Step{Phase: "finish", Request: "r1", Usage: &skein.Usage{Reported: 3e9}}))
		add(second, said(at+2, "r1", 1e6, 0))
		add(second, said(at+hour, "", 2e6, 0))
		add(second, said(at+hour, "", 2e6, 0))
		add(other, said(at, "r1", 4e6, 0))
		for range 2 {
			if err := r.AddMoved(other, said(at, "", 8e6, 0)); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for _, s := range r.Sums() {
			got += fmt.Sprintf("%s %d×%d %s off %s %v; ", s.Session, s.Usage.Requests, s.Usage.Input, s.Money(), s.Off(), r.Shares(s.Session))
		}
		return got
	}
	if got, want := count(0, 0), "a 1×1000000 $1.00 off $2.00 true; b 2×4000000 $4.00 off $0.00 true; c 2×12000000 $12.00 off $0.00 false; "; got != want {
		t.Errorf("counted %q, want %q", got, want)
	}
	if got, want := count(at+hour, at+2*hour), "b 2×4000000 $4.00 off $0.00 true; "; got != want {
		t.Errorf("counted of an hour %q, want %q", got, want)
	}
}
