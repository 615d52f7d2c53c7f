package server_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
	"github.com/skein-dev/skein/memory"
	"github.com/skein-dev/skein/server"
)

// site is a server with a store, and its first token.
type site struct {
	*testing.T
	store  skein.Store
	door   *door.Door
	tokens *door.Tokens
	url    string
}

func newSite(t *testing.T) *site {
	t.Helper()
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, store: memory.New(), tokens: tokens}
	s.door = door.New(door.Options{Store: s.store, Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now},
		server.Routes(server.Options{Version: "test", Now: time.Now})...)
	h := httptest.NewServer(s.door)
	t.Cleanup(h.Close)
	s.url = h.URL
	return s
}

// ask sends a request with the first token and reads the answer into out, if
// there is one.
func (s *site) ask(what, body string, out any) (status int) {
	s.Helper()
	method, path, _ := strings.Cut(what, " ")
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.tokens.First())
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	if err != nil {
		s.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(b, out); err != nil {
			s.Fatalf("%s answers %d %s: %v", what, w.StatusCode, b, err)
		}
	}
	return w.StatusCode
}

func TestTheFixedShapes(t *testing.T) {
	s := newSite(t)
	var made struct{ ID string }
	if status := s.ask("POST /v1/sessions", `{"key":"k","title":"t"}`, &made); status != 201 || made.ID == "" {
		t.Fatalf("POST /v1/sessions = %d %+v, want 201 and an ID", status, made)
	}
	for want, text := range []string{2: "one", 3: "two"} {
		if text == "" {
			continue
		}
		var said struct{ Seq int }
		if status := s.ask("POST /v1/sessions/"+made.ID+"/messages", `{"role":"user","text":"`+text+`"}`, &said); status != 201 || said.Seq != want {
			t.Errorf("POST messages = %d %+v, want 201 and seq %d", status, said, want)
		}
	}
	var page struct {
		Items []skein.Entry
		Next  string `json:"next_cursor"`
	}
	if status := s.ask("GET /v1/sessions/"+made.ID+"/messages?limit=1", "", &page); status != 200 || len(page.Items) != 1 || page.Items[0].Message.Words() != "two" || page.Next == "" {
		t.Errorf("GET messages = %d %+v, want the newest", status, page)
	}
	if s.ask("GET /v1/sessions/"+made.ID+"/messages?limit=1&cursor="+page.Next, "", &page); len(page.Items) != 1 || page.Items[0].Message.Words() != "one" {
		t.Errorf("GET messages with the cursor = %+v, want the one before", page)
	}
}

func TestProblems(t *testing.T) {
	s := newSite(t)
	s.ask("POST /v1/sessions", `{"id":"a"}`, nil)
	for _, c := range []struct {
		what, body string
		status     int
		code       string
	}{
		{"GET /v1/sessions/none", "", 404, "not_found"},
		{"POST /v1/sessions", `{"id":"a"}`, 409, "conflict"},
		{"POST /v1/sessions", `{"title":7}`, 400, "invalid"},
		{"POST /v1/sessions", `{"title":`, 400, "invalid"},
		{"POST /v1/sessions/a/messages", `{"role":"boss","text":"x"}`, 400, "invalid"},
		{"GET /v1/sessions/a/messages?limit=0", "", 400, "invalid"},
		{"GET /v1/sessions/a/messages?cursor=x", "", 400, "invalid"},
	} {
		var p door.Problem
		if status := s.ask(c.what, c.body, &p); status != c.status || p.Code != c.code || p.Status != c.status || p.Detail == "" {
			t.Errorf("%s %s = %d %+v, want %d %s", c.what, c.body, status, p, c.status, c.code)
		}
	}
}
