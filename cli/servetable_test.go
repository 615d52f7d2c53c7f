package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server"
	"github.com/skein-dev/skein/server/acp/remote"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/webhook"
	"github.com/skein-dev/skein/server/mcp"
	"github.com/skein-dev/skein/server/metrics"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/server/web/imports"
	"github.com/skein-dev/skein/store/memory"
)

// A whole is a server with everything that skein serve can serve.
type whole struct {
	*testing.T
	door   *door.Door
	tokens *door.Tokens
	now    time.Time
	asked  int
}

// mute is a gateway and an agent that say nothing.
type mute struct{}

func (mute) Take(context.Context, gateway.Message) error { return nil }

func (mute) Ask(context.Context, gateway.Message) (gateway.Answer, error) {
	return gateway.Answer{}, nil
}

func (mute) Talk(context.Context, *web.RunningTurn) error { return nil }

func (mute) Choices(context.Context, skein.Store, *skein.Session) web.TurnChoices {
	return web.TurnChoices{}
}

func newWhole(t *testing.T) *whole {
	t.Helper()
	h := &whole{T: t, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	var err error
	if h.tokens, err = door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), clock); err != nil {
		t.Fatal(err)
	}
	store := memory.New()
	if _, err := skein.Add(t.Context(), store, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "k"}), skein.Say(2, skein.UserSays("hello"))); err != nil {
		t.Fatal(err)
	}
	pages := web.Options{Now: clock, Tokens: h.tokens, Chat: web.NewChat(mute{})}
	t.Cleanup(pages.Chat.Close)
	pages.Imports = imports.New(imports.Options{Store: store})
	t.Cleanup(pages.Imports.Close)
	m := metrics.New(metrics.Options{Now: clock})
	h.door = door.New(door.Options{Store: store, Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: clock, Form: web.Form(pages), Page: web.Refused(pages)}, slices.Concat(
		server.Routes(server.Options{Store: store, Version: "test", Now: clock}),
		web.Routes(pages),
		mcp.Routes(mcp.Options{Version: "test"}), remote.Routes(remote.Options{}),
		webhook.Routes(mute{}, clock, &webhook.Caller{Title: "shop", Secret: []byte(strings.Repeat("s", webhook.MinSecret)), Keys: []string{"*"}}),
		[]door.Route{m.Route()},
	)...)
	return h
}

// ask sends a request to a route. Each comes from another address, because wrong
// tokens are counted. Headers with the value "" are left out.
func (h *whole) ask(r door.Route, body string, headers ...string) (*httptest.ResponseRecorder, door.Problem) {
	method, path, _ := strings.Cut(r.Pattern, " ")
	path = strings.NewReplacer("{id}", "a", "{key}", "k", "{hash}", strings.Repeat("0", 64), "{seq}", "2", "{n}", "0", "{name}", "style.css", "{$}", "").Replace(path)
	q := httptest.NewRequest(method, path, strings.NewReader(body))
	h.asked++
	q.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", h.asked>>16, h.asked>>8&0xff, h.asked&0xff)
	q.Host = "localhost:7433"
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	for _, head := range headers {
		name, value, _ := strings.Cut(head, ": ")
		if q.Header.Del(name); name == "Host" {
			q.Host = value
		} else if value != "" {
			q.Header.Set(name, value)
		}
	}
	ctx, cancel := context.WithCancel(q.Context())
	if cancel(); !r.Stream { // a stream ends at once
		ctx = h.Context()
	}
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, q.WithContext(ctx))
	var p door.Problem
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/problem+json") {
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != w.Code {
			h.Errorf("%s is answered with %d and the problem %s", r.Pattern, w.Code, w.Body)
		}
	}
	return w, p
}

// refused checks that a request is refused with a status and a code; a page does
// not include the code.
func (h *whole) refused(r door.Route, status int, code, body string, headers ...string) {
	h.Helper()
	w, p := h.ask(r, body, headers...)
	form := r.Page && status == http.StatusUnauthorized && strings.Contains(w.Body.String(), "<form")
	if w.Code != status || p.Code != code && !form {
		h.Errorf("%s with %q = %d %q, want %d %q", r.Pattern, headers, w.Code, p.Code, status, code)
	}
}

// token makes a token with that scope and returns its header.
func (h *whole) token(scope string, lasts time.Duration) string {
	h.Helper()
	token, err := h.tokens.Add(door.Token{Name: fmt.Sprint(scope, lasts), Scope: scope, Expires: skein.At(h.now.Add(lasts))})
	if err != nil {
		h.Fatal(err)
	}
	return "Authorization: Bearer " + token
}

// destroying returns the routes that need a lesser scope than they say if the token
// is one user's.
func destroying() []string { return []string{"POST /v1/sessions/{id}/purge", "POST /bin/purge"} }

func TestWhoMayUseEachRouteOfTheServer(t *testing.T) {
	h := newWhole(t)
	expired := h.token("admin", time.Minute)
	h.now = h.now.Add(2 * time.Minute)
	scopes := map[door.Scope]string{}
	for _, s := range []door.Scope{door.Read, door.Write, door.Admin} {
		scopes[s] = h.token(s.String()+" "+door.ReadRaw, time.Hour)
	}
	for _, r := range h.door.Routes() {
		h.refused(r, 403, "host", "", scopes[door.Admin], "Host: evil.example")
		h.refused(r, 403, "host", "", scopes[door.Admin], "Host: localhost.evil.example:7433")
		h.refused(r, 403, "origin", "", scopes[door.Admin], "Origin: https://evil.example")
		h.refused(r, 403, "origin", "", scopes[door.Admin], "Origin: http://localhost:7434")
		h.refused(r, 403, "origin", "", scopes[door.Admin], "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors")
		if r.Scope == door.Open {
			if w, p := h.ask(r, ""); p.Code == "token" && !r.Page {
				t.Errorf("%s is open, and wants a token: %d", r.Pattern, w.Code)
			}
			continue
		}
		h.refused(r, 401, "token", "")
		h.refused(r, 401, "token", "", "Authorization: Bearer wrong")
		h.refused(r, 401, "token", "", "Authorization: Basic "+h.tokens.First())
		h.refused(r, 401, "token", "", expired)
		h.refused(r, 401, "token", "", "Cookie: skein_login_7433=wrong")
		for s, token := range scopes {
			if s < r.Scope {
				h.refused(r, 403, "scope", "", token)
				continue
			}
			if s < door.Admin && slices.Contains(destroying(), r.Pattern) {
				h.refused(r, 403, "scope", "", token)
				continue
			}
			if w, p := h.ask(r, "", token); w.Code == 401 || w.Code == 403 && p.Code == "scope" || w.Code == 405 || p.Code == "no_route" || w.Code == 500 && !r.Stream {
				t.Errorf("%s with a token that may %s = %d %s", r.Pattern, s, w.Code, w.Body)
			}
		}
	}
}

func TestWhatBodiesEachRouteOfTheServerTakes(t *testing.T) {
	h := newWhole(t)
	token := "Authorization: Bearer " + h.tokens.First()
	for _, r := range h.door.Routes() {
		if strings.HasPrefix(r.Pattern, "GET ") {
			continue
		}
		if r.Body == 0 {
			h.refused(r, 413, "size", "{}", token)
			continue
		}
		for _, kind := range []string{"", "text/plain", "application/json; charset=utf-16", "application/xml", "multipart/form-data; boundary=x"} {
			if media, _, _ := strings.Cut(kind, ";"); slices.Contains(r.Types, media) {
				continue
			}
			h.refused(r, 415, "type", "{}", token, "Content-Type: "+kind)
		}
		if r.Body <= 64<<10 {
			kind := "application/json"
			if r.Types != nil {
				kind = r.Types[0]
			}
			h.refused(r, 413, "size", strings.Repeat("x", int(r.Body)+1), token, "Content-Type: "+kind)
		}
	}
}

// ofPages returns the routes that only browsers use, besides the pages themselves.
func ofPages() []string {
	return []string{
		"GET /static/{name}", "GET /manifest.webmanifest", "GET /sw.js", "GET /favicon.ico", "GET /sessions/{id}/live", "GET /sessions/stream",
		"GET /v1/openapi.json", "GET /v1/docs/style.css",
	}
}

func TestEveryRouteOfTheServerIsOfAPageOrInTheDocument(t *testing.T) {
	h := newWhole(t)
	w, _ := h.ask(door.Route{Pattern: "GET /v1/openapi.json"}, "", "Authorization: Bearer "+h.tokens.First())
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, r := range h.door.Routes() {
		routes = append(routes, r.Pattern)
		method, path, _ := strings.Cut(r.Pattern, " ")
		_, in := doc.Paths[path][strings.ToLower(method)]
		if in == (r.Page || slices.Contains(ofPages(), r.Pattern)) {
			t.Errorf("%s: in the document: %v; a page: %v, want one or the other", r.Pattern, in, r.Page)
		}
	}
	for path, item := range doc.Paths {
		for method := range item {
			if what := strings.ToUpper(method) + " " + path; !slices.Contains(routes, what) {
				t.Errorf("%s is in the document and no route", what)
			}
		}
	}
	for _, page := range ofPages() {
		if !slices.Contains(routes, page) {
			t.Errorf("%s is on the list of pages and no route", page)
		}
	}
}
