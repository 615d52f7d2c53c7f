package door_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
)

// house is a door with a route of each kind.
type house struct {
	*testing.T
	door   *door.Door
	tokens *door.Tokens
	now    time.Time
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	var err error
	if h.tokens, err = door.OpenTokens(filepath.Join(t.TempDir(), "state", "tokens"), clock); err != nil {
		t.Fatal(err)
	}
	who := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			door.Refuse(w, r, http.StatusRequestEntityTooLarge, "size", "%v", err)
			return
		}
		io.WriteString(w, door.From(r.Context()).Token+" "+string(door.From(r.Context()).User)) //nolint:errcheck // a recorder
	})
	h.door = door.New(door.Options{Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: clock, Hosts: []string{"skein.example"}},
		door.Route{Pattern: "GET /v1/read", Scope: door.Read, Handler: who},
		door.Route{Pattern: "POST /v1/write", Scope: door.Write, Body: 100, Handler: who},
		door.Route{Pattern: "POST /v1/admin", Scope: door.Admin, Handler: who},
		door.Route{Pattern: "GET /panic", Scope: door.Read, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("ouch") })},
	)
	return h
}

// with returns a door for other routes, with the same tokens.
func (h *house) with(routes ...door.Route) *door.Door {
	return door.New(door.Options{Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now}, routes...)
}

// ask sends a request with headers (name: value), by default to loopback with
// the first token.
func (h *house) ask(what, body string, headers ...string) *httptest.ResponseRecorder {
	return h.from(what, strings.NewReader(body), headers...)
}

// from is ask with a body from a reader.
func (h *house) from(what string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.door.ServeHTTP(w, h.request(what, body, headers...))
	return w
}

// request returns the request that from sends.
func (h *house) request(what string, body io.Reader, headers ...string) *http.Request {
	method, path, _ := strings.Cut(what, " ")
	r := httptest.NewRequest(method, path, body)
	r.Host = "127.0.0.1:7433"
	r.Header.Set("Authorization", "Bearer "+h.tokens.First())
	if r.ContentLength != 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, head := range headers {
		name, value, _ := strings.Cut(head, ": ")
		if name == "Host" {
			r.Host = value
		} else if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	return r
}

// send sends the login form, as a browser does.
func (h *house) send(form string, headers ...string) *httptest.ResponseRecorder {
	return h.ask("POST /login", form, append([]string{"Authorization: ", "Content-Type: application/x-www-form-urlencoded"}, headers...)...)
}

func (h *house) wants(status int, what, body string, headers ...string) {
	h.Helper()
	w := h.ask(what, body, headers...)
	if w.Code != status {
		h.Errorf("%s %v = %d %s, want %d", what, headers, w.Code, w.Body, status)
	}
	if status >= 400 {
		var p door.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != status || p.Code == "" || w.Header().Get("Content-Type") != "application/problem+json" {
			h.Errorf("%s %v answers %s %s, want a problem", what, headers, w.Header().Get("Content-Type"), w.Body)
		}
	}
	for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy", "X-Request-Id"} {
		if w.Header().Get(name) == "" {
			h.Errorf("%s %v answers without %s", what, headers, name)
		}
	}
}

func TestEachRefusalHasItsStatus(t *testing.T) {
	h := newHouse(t)
	reader, err := h.tokens.Add(door.Token{Name: "r", Scope: "read", User: "ann", Expires: skein.At(h.now.Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	h.wants(200, "GET /v1/read", "")
	h.wants(200, "GET /healthz", "", "Authorization: ")
	h.wants(401, "GET /v1/read", "", "Authorization: ")
	h.wants(401, "GET /v1/read", "", "Authorization: Bearer "+h.tokens.First()+"x")
	h.wants(401, "GET /v1/read", "", "Authorization: Basic "+h.tokens.First())
	h.wants(200, "GET /v1/read", "", "Authorization: bearer "+reader)
	h.wants(403, "POST /v1/write", "{}", "Authorization: Bearer "+reader)
	h.wants(403, "GET /healthz", "", "Host: evil.example")
	h.wants(403, "GET /v1/read", "", "Host: 127.0.0.1.evil.example")
	h.wants(200, "GET /v1/read", "", "Host: skein.example")
	h.wants(200, "GET /v1/read", "", "Host: [::1]:7433")
	h.wants(403, "GET /v1/read", "", "Origin: https://evil.example")
	h.wants(403, "GET /v1/read", "", "Origin: null")
	h.wants(200, "GET /v1/read", "", "Origin: null", "Sec-Fetch-Site: same-origin")
	h.wants(403, "GET /v1/read", "", "Origin: null", "Sec-Fetch-Site: cross-site")
	h.wants(403, "GET /v1/read", "", "Origin: https://evil.example", "Sec-Fetch-Site: same-origin")
	h.wants(403, "GET /v1/read", "", "Origin: http://127.0.0.1:9999")
	h.wants(200, "GET /v1/read", "", "Origin: http://127.0.0.1:7433")
	h.wants(403, "GET /v1/read", "", "Sec-Fetch-Site: cross-site")
	h.wants(404, "GET /v1/nothing", "")
	h.wants(405, "PUT /v1/read", "")
	h.wants(413, "POST /v1/write", strings.Repeat("x", 101))
	h.wants(413, "POST /v1/admin", "{}")
	h.wants(415, "POST /v1/write", "{}", "Content-Type: text/plain")
	h.wants(415, "POST /v1/write", "{}", "Content-Type: ")
	h.wants(415, "POST /v1/write", "{}", "Content-Encoding: gzip")
	h.wants(200, "POST /v1/write", "{}", "Content-Encoding: identity")
	h.wants(500, "GET /panic", "")
	h.now = h.now.Add(2 * time.Hour)
	h.wants(401, "GET /v1/read", "", "Authorization: Bearer "+reader)
}

func TestABodyOfUnknownLengthIsCutOff(t *testing.T) {
	h := newHouse(t)
	r := httptest.NewRequest(http.MethodPost, "/v1/write", io.MultiReader(strings.NewReader(strings.Repeat("x", 200))))
	r.Host, r.ContentLength = "localhost", -1
	r.Header.Set("Authorization", "Bearer "+h.tokens.First())
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if h.door.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 200 bytes, at most 100 allowed = %d, want 413", w.Code)
	}
}

func TestWrongTokensAreCounted(t *testing.T) {
	h := newHouse(t)
	for range 100 {
		h.wants(401, "GET /v1/read", "", "Authorization: Bearer wrong")
	}
	h.wants(429, "GET /v1/read", "", "Authorization: Bearer wrong")
	h.wants(200, "GET /v1/read", "")
	h.now = h.now.Add(time.Hour)
	h.wants(401, "GET /v1/read", "", "Authorization: Bearer wrong")
}

func TestACodeLogsInOnce(t *testing.T) {
	h := newHouse(t)
	code, ok := h.door.Code()
	if !ok {
		t.Fatal("no code")
	}
	w := h.send("code=" + code + "&next=%2Fsessions%2Fa%252Fb")
	cookies := w.Result().Cookies()
	if w.Code != 303 || w.Header().Get("Location") != "/sessions/a%2Fb" || len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode {
		t.Fatalf("POST /login = %d to %s, cookies %v; want 303 to the page that was asked for, and one cookie, HttpOnly and strict", w.Code, w.Header().Get("Location"), cookies)
	}
	in := "Cookie: " + cookies[0].Name + "=" + cookies[0].Value
	h.wants(200, "GET /v1/read", "", "Authorization: ", in)
	h.wants(401, "GET /v1/read", "", "Authorization: ", in+"x")
	if w := h.send("code=" + code); w.Code != 401 {
		t.Errorf("the code a second time = %d, want 401", w.Code)
	}
	h.now = h.now.Add(31 * 24 * time.Hour)
	h.wants(401, "GET /v1/read", "", "Authorization: ", in)
	h.now = h.now.Add(-31 * 24 * time.Hour)
	if err := h.tokens.Remove(door.First); err != nil {
		t.Fatal(err)
	}
	h.wants(401, "GET /v1/read", "", "Authorization: ", in)
}

func TestTokensAreTheirOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	tokens, err := door.OpenTokens(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	one, err := tokens.Add(door.Token{Name: "ci", Scope: "write", User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tokens.Add(door.Token{Name: "ci", Scope: "read"}); err == nil {
		t.Error("a second token of the same name = nil")
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), one) || !strings.HasPrefix(string(data), tokens.First()+"\n") {
		t.Errorf("the file is %q, %v; want the first token, and the other by its hash", data, err)
	}
	info, err := os.Stat(path)
	if err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	again, err := door.OpenTokens(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := again.Find(t.Context(), one); err != nil || found.Name != "ci" || found.User != "ann" || again.First() != tokens.First() {
		t.Errorf("Find = %+v, %v, first %v", found, err, again.First() == tokens.First())
	}
	if err := tokens.Remove("ci"); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Find(t.Context(), one); !errors.Is(err, skein.ErrNotFound) {
		t.Error("Find finds a token that was removed by another handle")
	}
	if os.PathSeparator == '/' {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := door.OpenTokens(path, time.Now); err == nil {
			t.Error("OpenTokens of a file that others can read = nil")
		}
	}
}

func TestAnAnswerThatIsNotWholeLooksSo(t *testing.T) {
	h := newHouse(t)
	h.door = door.New(door.Options{Store: memory.New(), Tokens: h.tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now},
		door.Route{Pattern: "GET /v1/half", Scope: door.Open, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "half") //nolint:errcheck // it goes to a test
			panic("ouch")
		})})
	s := httptest.NewServer(h.door)
	defer s.Close()
	w, err := http.Get(s.URL + "/v1/half")
	if err == nil {
		defer w.Body.Close()
		_, err = io.ReadAll(w.Body)
	}
	if err == nil {
		t.Error("GET of what broke off in the middle came to an end, want an error")
	}
}
