package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/claudecode"
	"github.com/skein-dev/skein/interop/formats/skeinlog"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/skein-dev/skein/internal/pgtest.reap"))
}

// site is a server with a store, and a token for requests.
type site struct {
	*testing.T
	store  skein.Store
	door   *door.Door
	tokens *door.Tokens
	url    string
	token  string
	purged []skein.SessionID
	broken error // why the server is not ready; nil: it is

	contract func() *contract // the server's document
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOn(t, memory.New())
}

// newSiteOn returns a site whose stream readers share one reader.
func newSiteOn(t *testing.T, store skein.Store) *site {
	t.Helper()
	return newSiteWith(t, store, store)
}

// newSiteWith returns a site; if shared is nil, each reader reads by itself.
func newSiteWith(t *testing.T, store, shared skein.Store) *site {
	t.Helper()
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, store: store, tokens: tokens, token: tokens.First()}
	s.door = door.New(door.Options{Store: s.store, Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now}, server.Routes(server.Options{
		Store: shared, Version: "test", Now: time.Now, Formats: []interop.Format{skeinlog.Format(), claudecode.Format()}, Redact: redact.New(), Files: true,
		Prices: func() (*price.List, error) { return price.Load() },
		Budgets: func(context.Context) ([]price.Spent, error) {
			return []price.Spent{{SpendingBudget: price.SpendingBudget{Per: price.PerDay, USD: 1}, Used: 0.82, Percent: 82}}, nil
		},
		Ready:  func(context.Context) error { return s.broken },
		Purged: func(_ skein.User, id skein.SessionID) error { s.purged = append(s.purged, id); return nil },
	})...)
	h := httptest.NewServer(s.door)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	s.url = h.URL
	s.contract = sync.OnceValue(func() *contract {
		w := s.send("GET /v1/openapi.json", "")
		b, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		c, err := readContract(b)
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
	return s
}

// as returns the same site, with a token of that user.
func (s *site) as(user skein.User, scope string) *site {
	s.Helper()
	token, err := s.tokens.Add(door.Token{Name: fmt.Sprintf("%s %s %d", user, scope, time.Now().UnixNano()), Scope: scope, User: user})
	if err != nil {
		s.Fatal(err)
	}
	other := *s
	other.token = token
	return &other
}

// send sends a request with the site's token and these headers (name: value).
func (s *site) send(what, body string, headers ...string) *http.Response {
	s.Helper()
	method, path, _ := strings.Cut(what, " ")
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		} else if r.Header.Del(name); value != "" {
			r.Header.Set(name, value)
		}
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { w.Body.Close() })
	return w
}

// raw sends a request and returns the answer's body.
func (s *site) raw(status int, what, body string, headers ...string) []byte {
	s.Helper()
	w := s.send(what, body, headers...)
	b, err := io.ReadAll(w.Body)
	if err != nil {
		s.Fatal(err)
	}
	if w.StatusCode != status {
		s.Errorf("%s %s %v = %d %.300s, want %d", what, body, headers, w.StatusCode, b, status)
	}
	if err := s.contract().check(w, b); err != nil {
		s.Errorf("%s %.300s: the answer is not what the document says: %v", what, body, err)
	}
	return b
}

// wants sends a request, expects that status, and decodes the answer into out,
// if there is one.
func (s *site) wants(status int, what, body string, out any, headers ...string) {
	s.Helper()
	b := s.raw(status, what, body, headers...)
	if out != nil {
		reflect.ValueOf(out).Elem().SetZero() // it may have been used before
		if err := json.NewDecoder(bytes.NewReader(b)).Decode(out); err != nil {
			s.Fatalf("%s answers %.300s: %v", what, b, err)
		}
	}
}

// refuses sends a request and expects a problem of that status and code.
func (s *site) refuses(status int, code, what, body string, headers ...string) {
	s.Helper()
	var p door.Problem
	s.wants(status, what, body, &p, headers...)
	if p.Status != status || p.Code != code || p.Detail == "" || p.ID == "" {
		s.Errorf("%s %s = %+v, want the problem %d %s", what, body, p, status, code)
	}
}

// begin begins a session with messages of these texts.
func (s *site) begin(id skein.SessionID, c skein.Created, texts ...string) {
	s.Helper()
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1_700_000_000_000, c)}
	for i, text := range texts {
		m := skein.UserSays(text)
		if i%2 == 1 {
			m = skein.Message{Role: skein.RoleAssistant, Model: "claude-sonnet-4-5", Provider: "anthropic", Parts: []skein.Part{skein.TextPart(text)}, Usage: &skein.Usage{Input: 50_000}}
		}
		evs = append(evs, skein.Say(skein.Time(1_700_000_001_000+i), m))
	}
	if _, err := s.store.Append(s.Context(), skein.Batch{Session: id, Events: evs}); err != nil {
		s.Fatal(err)
	}
}
