package skein_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func TestEventJSONKeepsThePayload(t *testing.T) {
	e := skein.Event{
		Seq: 7, Time: 1795235760123, Kind: "unheard of", ClientID: "c",
		Payload: []byte("{\"z\":1e400,\"a\":\"<\\ud800\u2028&\",\"n\":12345678901234567890}"),
	}
	want := `{"seq":7,"time":"2026-11-21T04:36:00.123Z","kind":"unheard of","client_id":"c","payload":` + string(e.Payload) + `}`
	got, err := e.MarshalJSON()
	if err != nil || string(got) != want {
		t.Errorf("MarshalJSON = %s, %v; want %s", got, err, want)
	}
	var back skein.Event
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, back); diff != "" {
		t.Errorf("event back from JSON (-want +got):\n%s", diff)
	}
	if _, err := json.Marshal(skein.Event{Kind: "x", Payload: []byte("{")}); err == nil {
		t.Error("an event with half an object as its payload became JSON")
	}
}

func TestDecodeNamesTheEvent(t *testing.T) {
	_, err := skein.Decode[skein.Message](skein.Event{Seq: 3, Kind: skein.KindSaid, Payload: []byte(`[]`)})
	if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(fmt.Sprint(err), `event 3 of kind "said"`) {
		t.Errorf("Decode([]) = %v, want an error wrapping ErrInvalid that names event 3 and its kind", err)
	}
}

func TestMessageTyped(t *testing.T) {
	text, fromProgram := skein.TextPart("a"), skein.Part{Kind: skein.PartText, Text: "a", Synthetic: true}
	for _, c := range []struct {
		m    skein.Message
		want bool
	}{
		{skein.UserSays("a"), true},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{result("a", "x")}}, false},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{result("a", "x"), text}}, true},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{fromProgram}}, false},
		{skein.Message{Role: skein.RoleUser, Parts: []skein.Part{text}, Synthetic: true}, false},
		{skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{text}}, false},
		{skein.Message{Role: skein.RoleUser}, false},
	} {
		if got := c.m.Typed(); got != c.want {
			t.Errorf("Typed of %s is %v, want %v", strings.TrimSpace(showMessage(c.m)), got, c.want)
		}
	}
	m := skein.Message{Parts: []skein.Part{text, fromProgram, {Kind: skein.PartReasoning, Text: "r"}, call("c"), {Kind: skein.PartSummary, Text: "s"}}}
	if got := m.Words(); got != "a\n\ns" {
		t.Errorf("Words() = %q, want %q", got, "a\n\ns")
	}
}

func TestUsage(t *testing.T) {
	u := skein.Usage{Input: 1, Output: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5, CacheHour: 3, Requests: 6, Reported: 7}
	v := skein.Usage{Input: 10, Output: 20, Reasoning: 30, CacheRead: 40, CacheWrite: 50, CacheHour: 30, Requests: 60, Reported: 70}
	sum := skein.Usage{Input: 11, Output: 22, Reasoning: 33, CacheRead: 44, CacheWrite: 55, CacheHour: 33, Requests: 66, Reported: 77}
	if got := u.Plus(v); got != sum {
		t.Errorf("%+v plus %+v is %+v, want %+v", u, v, got, sum)
	}
	if got := sum.Minus(v); got != u {
		t.Errorf("%+v minus %+v is %+v, want %+v", sum, v, got, u)
	}
	if got := u.Tokens(); got != 1+2+4+5 {
		t.Errorf("%+v has %d tokens, want 12", u, got)
	}
	for _, c := range []struct{ first, then, want skein.Usage }{
		{u, skein.Usage{}, u},
		{skein.Usage{}, u, u},
		{v, u, skein.Usage{Input: 1, Output: 20, Reasoning: 30, CacheRead: 4, CacheWrite: 5, CacheHour: 3, Requests: 60, Reported: 70}},
		{skein.Usage{CacheWrite: 9, CacheHour: 8}, skein.Usage{CacheWrite: 5}, skein.Usage{CacheWrite: 5, CacheHour: 5}},
	} {
		if got := c.first.Merge(c.then); got != c.want {
			t.Errorf("%+v.Merge(%+v) = %+v, want %+v", c.first, c.then, got, c.want)
		}
	}
}
