package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
)

// Every way to read a session marks a damaged event, and hides nothing else.
func TestEveryDoorGoesAroundDamage(t *testing.T) {
	h := newAsked(t, altered(t), drawn(seeded(t)))
	session := "/v1/sessions/a"
	gets := []string{
		session + "/messages", session + "/messages?limit=2", session + "/events", session + "/events?after=2", session + "/events?view=messages", session + "/events?view=context",
		session + "/export?to=md", session + "/export?to=html", session + "/export?to=json",
		"/sessions/a", "/sessions/a/messages", "/sessions/a/download?as=md", "/sessions/a/download?as=json", "/sessions/a/replay",
	}
	requests := map[string]*http.Request{}
	for _, path := range gets {
		requests["GET "+path] = httptest.NewRequest(http.MethodGet, path, nil)
	}
	for _, in := range []map[string]any{{"session": "a"}, {"session": "a", "from": 1}, {"session": "a", "seq": 3}} {
		requests["session_read "+string(skein.MustJSON(in))] = toolCall("session_read", in)
	}
	for what, r := range requests {
		got := h.answer(r)
		if !strings.HasPrefix(got, "200 ") || strings.Contains(got, "euros") || !strings.Contains(got, "event 3 is damaged") || !strings.Contains(got, "last message") && !strings.Contains(what, `"seq":3`) {
			t.Errorf("%s is answered with\n%s\nwant 200, the damaged event as such and the rest", what, got)
		}
	}
	for _, to := range []string{"md", "html", "json"} {
		if got := h.trailer(session+"/export?to="+to, "Skein-Damaged"); got != "3" {
			t.Errorf("the export to %s ends with Skein-Damaged: %q, want 3", to, got)
		}
	}
	for _, path := range []string{session + "/events?follow=1", "/v1/stream"} {
		if got := h.listen(path, "last message"); !strings.Contains(got, "event 3 is damaged") || strings.Contains(got, "euros") {
			t.Errorf("GET %s sends\n%s\nwant the damaged event as such and the rest", path, got)
		}
	}
	forked := httptest.NewRequest(http.MethodPost, session+"/fork", strings.NewReader(`{"turn":3}`))
	forked.Header.Set("Content-Type", "application/json")
	if got := h.answer(forked); !strings.HasPrefix(got, "201 ") {
		t.Errorf("a fork behind a damaged event is answered with %s, want 201", got)
	}
}

// altered returns a store in which the text of event 3 of session a was altered.
func altered(t *testing.T) skein.Store {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(t.Context(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for _, text := range []string{"the first message", "the price of it is 100 euros and not a cent more", "the last message"} {
		evs = append(evs, skein.Say(2, skein.UserSays(text)))
	}
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Events: evs}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(b, []byte("100 euros")) {
		t.Fatalf("the file has no text to alter: %v", err)
	}
	if err := os.WriteFile(name, bytes.ReplaceAll(b, []byte("100 euros"), []byte("900 euros")), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = sqlite.Open(t.Context(), name, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
