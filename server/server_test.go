package server_test

import (
	"testing"

	"github.com/skein-dev/skein"
)

func TestTheFixedShapes(t *testing.T) {
	s := newSite(t)
	var made struct{ ID string }
	if s.wants(201, "POST /v1/sessions", `{"key":"k","title":"t"}`, &made); made.ID == "" {
		t.Fatal("POST /v1/sessions answers without an ID")
	}
	for want, text := range []string{2: "one", 3: "two"} {
		if text == "" {
			continue
		}
		var said struct{ Seq int }
		if s.wants(201, "POST /v1/sessions/"+made.ID+"/messages", `{"role":"user","text":"`+text+`"}`, &said); said.Seq != want {
			t.Errorf("POST messages = %+v, want seq %d", said, want)
		}
	}
	var page struct {
		Items []skein.Entry
		Next  string `json:"next_cursor"`
	}
	if s.wants(200, "GET /v1/sessions/"+made.ID+"/messages?limit=1", "", &page); len(page.Items) != 1 || page.Items[0].Message.Words() != "two" || page.Next == "" {
		t.Errorf("GET messages = %+v, want the newest", page)
	}
	if s.wants(200, "GET /v1/sessions/"+made.ID+"/messages?limit=1&cursor="+page.Next, "", &page); len(page.Items) != 1 || page.Items[0].Message.Words() != "one" {
		t.Errorf("GET messages with the cursor = %+v, want the one before", page)
	}
}

func TestProblems(t *testing.T) {
	s := newSite(t)
	s.wants(201, "POST /v1/sessions", `{"id":"a"}`, nil)
	for _, c := range []struct {
		what, body string
		status     int
		code       string
	}{
		{"GET /v1/sessions/none", "", 404, "not_found"},
		{"POST /v1/sessions", `{"id":"a"}`, 409, "exists"},
		{"POST /v1/sessions", `{"title":7}`, 400, "invalid"},
		{"POST /v1/sessions", `{"title":`, 400, "invalid"},
		{"POST /v1/sessions", `{"titel":"x"}`, 400, "invalid"},
		{"POST /v1/sessions/a/messages", `{"role":"boss","text":"x"}`, 400, "invalid"},
		{"GET /v1/sessions/a/messages?limit=0", "", 400, "invalid"},
		{"GET /v1/sessions/a/messages?cursor=x", "", 400, "invalid"},
		{"GET /v1/sessions/a/events?cursor=x", "", 400, "invalid"},
		{"GET /v1/sessions/a/events?after=1&before=2", "", 400, "invalid"},
		{"GET /v1/sessions/a/events?follow=1&view=messages", "", 400, "invalid"},
		{"GET /v1/sessions?cursor=x", "", 400, "invalid"},
		{"GET /v1/sessions?since=tuesday", "", 400, "invalid"},
		{"GET /v1/stream?from=yesterday", "", 400, "invalid"},
		{"GET /v1/search?q=", "", 400, "invalid"},
		{"GET /v1/search?mode=regex&q=(", "", 400, "invalid"},
		{"GET /v1/usage?zone=../../etc/passwd", "", 400, "invalid"},
		{"POST /v1/sessions/a/fork", `{}`, 400, "invalid"},
		{"POST /v1/sessions/a/fork", `{"seq":9}`, 400, "invalid"},
		{"POST /v1/sessions/a/rewind", `{"turn":1}`, 400, "invalid"},
		{"POST /v1/sessions/a/lease", `{"ttl":"1ms"}`, 400, "invalid"},
		{"POST /v1/sessions/a/lease/renew", `{"fence":1}`, 409, "fenced"},
		{"POST /v1/prune", `{}`, 400, "invalid"},
		{"GET /v1/resolve?name=none", "", 404, "not_found"},
		{"GET /v1/keys/none", "", 404, "not_found"},
	} {
		s.refuses(c.status, c.code, c.what, c.body)
	}
	lacking := s.problem("POST /v1/sessions", `{"id":"b","parent":{"session":"<a>","seq":1}}`)
	if want := `body.parent: expected required property why to be present ({"seq":1,"session":"<a>"})`; lacking.Detail != want {
		t.Errorf("what is said of a parent that lacks something = %s, want %s", lacking.Detail, want)
	}
}
