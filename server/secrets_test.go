package server_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

func TestExportsForReadingHideSecretsWhereverTheyStand(t *testing.T) {
	s := newSite(t)
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	file := skein.File{Name: key + ".txt", URL: "https://files.example/?token=" + key}
	said := skein.Message{
		Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Kind: "auth", Message: "the key " + key + " is not known"},
		Parts: []skein.Part{
			{Kind: skein.PartFile, File: &file},
			{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: "x", Files: []skein.File{file}}},
		},
	}
	if _, err := s.store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "of " + key}),
		skein.Say(2, skein.UserSays(strings.Repeat("long words ", 9)+key)), // lists cut it off somewhere
		skein.Say(3, said),
	}}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"md", "html", "json"} {
		b := string(s.raw(200, "GET /v1/sessions/a/export?thinking=1&to="+to, ""))
		if i := strings.Index(b, key[:8]); i >= 0 {
			t.Errorf("an export to %s shows a secret: …%q…", to, b[max(0, i-60):min(len(b), i+60)])
		}
	}
	if b := string(s.raw(200, "GET /v1/search?q=words", "")); strings.Contains(b, key[:8]) {
		t.Errorf("a search shows a secret, or a piece of one: %s", b)
	}
}

// A token reads secrets only with the scope for it, and only if they are asked
// for; what a store on another machine reads always contains them.
func TestSecretsAreReadOnlyWithAScopeOfTheirOwn(t *testing.T) {
	s := newSite(t)
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	said := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("the key is " + key)}}
	if _, err := s.store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "of " + key}),
		skein.Say(2, said),
	}}); err != nil {
		t.Fatal(err)
	}
	admin, err := s.tokens.Add(door.Token{Name: "admin", Scope: "admin"})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := s.tokens.Add(door.Token{Name: "reader", Scope: "read:raw"})
	if err != nil {
		t.Fatal(err)
	}
	as := func(token string) string { return "Authorization: Bearer " + token }
	reads := []string{
		"/v1/sessions/a/events", "/v1/sessions/a/events?before=3", "/v1/sessions/a/events?view=messages", "/v1/sessions/a/events?view=messages&before=3", "/v1/sessions/a/events?view=context",
		"/v1/sessions/a/messages", "/v1/sessions/a/export?to=json", "/v1/search?q=key",
	}
	for _, path := range append([]string{"/v1/sessions", "/v1/sessions/a", "/v1/sessions/a/tree"}, reads...) {
		for who, token := range map[string]string{"an admin's token": admin, "one with read:raw": reader, "the first": s.token} {
			if b := string(s.raw(200, "GET "+path, "", as(token))); strings.Contains(b, key[:8]) {
				t.Errorf("GET %s with %s shows a secret that was not asked for: %s", path, who, b)
			}
		}
	}
	for _, path := range append(reads, "/v1/sessions/a/export?to=skein") {
		path += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "raw=true"
		if b := string(s.raw(200, "GET "+path, "", as(reader))); !strings.Contains(b, key) {
			t.Errorf("GET %s with read:raw has no secret: %s", path, b)
		}
		if b := string(s.raw(403, "GET "+path, "", as(admin))); !strings.Contains(b, "read:raw") {
			t.Errorf("GET %s without read:raw is refused with %s, want it to say so", path, b)
		}
	}
	for _, path := range []string{"/v1/stream", "/v1/sessions/a/events?follow=1"} {
		to := path + map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + "raw=true"
		hidden, shown := s.listen(t.Context(), path, as(reader)), s.listen(t.Context(), to, as(reader))
		for _, kind := range []string{`"created"`, `"said"`} {
			if got := hidden(); !strings.Contains(got, kind) || strings.Contains(got, key[:8]) {
				t.Errorf("the stream %s has %q, want %s without the secret that was not asked for", path, got, kind)
			}
			if got := shown(); !strings.Contains(got, kind) || !strings.Contains(got, key) {
				t.Errorf("the stream %s has %q, want %s with its secret", to, got, kind)
			}
		}
		s.raw(403, "GET "+to, "", as(admin))
	}
	s.raw(403, "GET /v1/sessions/a/export?to=skein", "", as(admin))
	for _, method := range []string{"events", "newest", "window", "session"} {
		body := `{"session":"a"}`
		if method == "newest" || method == "window" {
			body = `{"session":"a","n":5}`
		}
		s.raw(403, "POST /v1/store/"+method, body, as(admin))
		if b := string(s.raw(200, "POST /v1/store/"+method, body, as(reader))); !strings.Contains(b, key) {
			t.Errorf("POST /v1/store/%s with read:raw has no secret: %s", method, b)
		}
	}
}

func TestNoRoomSaysWhichRoom(t *testing.T) {
	s := newSite(t)
	var doc struct {
		Components struct {
			Responses map[string]struct{ Description string }
		}
	}
	s.wants(200, "GET /v1/openapi.json", "", &doc)
	got := doc.Components.Responses["507"].Description
	for _, word := range []string{"disk", "quota", "nothing was stored"} {
		if !strings.Contains(got, word) {
			t.Errorf("507 means %q, want %q in it", got, word)
		}
	}
}

// Titles are without secrets in every answer.
func TestNamesHideSecretsInEveryAnswer(t *testing.T) {
	s := newSite(t)
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for _, id := range []skein.SessionID{"aaaa-1", "aaaa-2"} {
		said := skein.Message{Role: skein.RoleAssistant, Model: "openai/gpt-4o", Usage: &skein.Usage{Input: 7, Output: 3}, Parts: []skein.Part{skein.TextPart("done")}}
		if _, err := s.store.Append(t.Context(), skein.Batch{Session: id, Events: []skein.Event{
			skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "of " + key + " too"}),
			skein.Say(2, skein.UserSays("go")), skein.Say(3, said),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		status int
		path   string
	}{
		{200, "/v1/usage?by=session"}, {200, "/v1/prune?larger_than=1"}, {409, "/v1/resolve?name=too"}, {409, "/v1/search?q=go&session=too"},
	} {
		if b := string(s.raw(c.status, "GET "+c.path, "")); strings.Contains(b, key[:8]) || !strings.Contains(b, "redacted:") {
			t.Errorf("GET %s = %s, want its titles without secrets", c.path, b)
		}
	}
}

// A search finds only what it may show: otherwise it would reveal a secret
// letter by letter.
func TestASearchTellsNothingOfWhatIsHidden(t *testing.T) {
	s := newSite(t)
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	if _, err := s.store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "of " + key}),
		skein.Say(2, skein.UserSays("the pear is green")),
		skein.Say(3, skein.UserSays("the key is "+key+" and the plum is blue")),
	}}); err != nil {
		t.Fatal(err)
	}
	reader, err := s.tokens.Add(door.Token{Name: "reader", Scope: "read:raw"})
	if err != nil {
		t.Fatal(err)
	}
	for path, found := range map[string]bool{
		"search?mode=regex&q=ghp_a":                  false,
		"search?mode=regex&q=key+is+ghp_a":           false,
		"search?mode=regex&q=key+is+[^x]":            false,
		"search?mode=substring&q=ghp_abc":            false,
		"search?mode=substring&each=true&q=s+ghp_ab": false,
		"search?mode=regex&q=ghp_a|pear":             true,
		"search?mode=regex&q=pl.m":                   true,
		"search?q=plum":                              true,
		"search?q=ghp_abcd*":                         false,
		"search?q=plum+ghp_abcd*":                    false,
		"sessions?title=ghp_a":                       false,
		"sessions?title=of":                          true,
	} {
		if b := string(s.raw(200, "GET /v1/"+path, "")); strings.Contains(b, `"items":[]`) == found || strings.Contains(b, key[:8]) {
			t.Errorf("GET /v1/%s = %s, want something found: %v", path, b, found)
		}
	}
	s.raw(404, "GET /v1/resolve?name=ghp_a", "")
	s.raw(404, "GET /v1/search?q=plum&session=ghp_a", "")
	s.raw(200, "GET /v1/resolve?name=of", "")
	if b := string(s.raw(200, "GET /v1/search?raw=1&mode=regex&q=ghp_a", "", "Authorization: Bearer "+reader)); strings.Contains(b, `"items":[]`) {
		t.Errorf("a search for a secret with read:raw = %s, want it found", b)
	}
}
