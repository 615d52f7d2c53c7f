package server_test

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
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
		skein.Say(2, skein.UserSays(strings.Repeat("long words ", 9)+key)), // what a list shows of it breaks off somewhere
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
