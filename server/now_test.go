package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

type nowLines struct {
	Budgets []struct {
		Per     string
		Percent int
	}
	Items []struct {
		ID    skein.SessionID
		State string
		Tool  string
		Text  string
	}
}

func TestNowSaysWhatEachSessionIsDoing(t *testing.T) {
	s := newSite(t)
	s.begin("idle1", skein.Created{}, "hello", "hi")
	s.begin("asks1", skein.Created{Agent: "asker"}, "go")
	s.wants(201, "POST /v1/sessions/asks1/events", `{"events":[{"kind":"said","payload":{"role":"assistant","parts":[{"kind":"call","call":{"id":"c","name":"ask_user","input":{"question":"With key sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-AAAAAAAA?"}}}]}}]}`, nil)
	var got nowLines
	s.wants(200, "GET /v1/now?since=2000-01-01", "", &got)
	if len(got.Items) != 2 || got.Items[0].ID != "asks1" || got.Items[0].State != "waiting" || got.Items[0].Tool != "ask_user" || got.Items[1].State != "idle" {
		t.Errorf("GET /v1/now = %+v, want the one that waits, then the idle one", got.Items)
	}
	if len(got.Budgets) != 1 || got.Budgets[0].Per != "day" || got.Budgets[0].Percent != 82 {
		t.Errorf("the budgets are %+v, want that of the day, of which 82 %% are used", got.Budgets)
	}
	if text := got.Items[0].Text; !strings.HasPrefix(text, "With key [") || strings.Contains(text, "api03") {
		t.Errorf("the question is %q, want it without its secret", text)
	}
	for query, want := range map[string]int{"agent=asker": 1, "agent=other": 0, "state=waiting": 1, "state=working,failed": 0, "project=/nowhere": 0} {
		if s.wants(200, "GET /v1/now?since=2000-01-01&"+query, "", &got); len(got.Items) != want {
			t.Errorf("GET /v1/now?%s finds %d sessions, want %d", query, len(got.Items), want)
		}
	}
	s.refuses(400, "invalid", "GET /v1/now?since=then", "")
	s.refuses(400, "invalid", "GET /v1/now/stream?since=then", "")
	got = nowLines{}
	if s.as("other", "read").wants(200, "GET /v1/now?since=2000-01-01", "", &got); len(got.Items)+len(got.Budgets) != 0 {
		t.Errorf("another user sees %+v, want nothing", got)
	}
}

func TestTheStreamOfNowTellsWhatChanges(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "hello")
	next := s.listen(t.Context(), "/v1/now/stream?since=2000-01-01")
	states := ""
	for _, text := range []string{"", `{"role":"assistant","parts":[],"error":{"message":"busy"}}`, `{"role":"user","parts":[{"kind":"text","text":"again"}]}`} {
		if text != "" {
			s.wants(201, "POST /v1/sessions/a/events", fmt.Sprintf(`{"events":[{"kind":"said","payload":%s}]}`, text), nil)
		}
		_, rest, _ := strings.Cut(next(), `"state":"`)
		state, _, _ := strings.Cut(rest, `"`)
		states += state + " "
	}
	if states != "idle failed working " {
		t.Errorf("the stream says %q, want idle (what was said is old), failed, working", states)
	}
}
