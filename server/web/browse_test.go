package web_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web"
)

// A visit is a server with the whole door, and a person who is logged in.
type visit struct {
	t      *testing.T
	url    string
	door   *door.Door
	tokens *door.Tokens
	client *http.Client
	down   *atomic.Bool // the server cannot be reached
}

// visiting serves store as skein serve does; change may set other options.
func visiting(t *testing.T, store skein.Store, change func(*web.Options)) *visit {
	t.Helper()
	now := func() time.Time { return composedNow }
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), now)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	o := web.Options{Version: "1.2.3", Tokens: tokens, Now: now, Log: log, Prices: func() (*price.List, error) { return price.Load() }}
	if change != nil {
		change(&o)
	}
	d := door.New(door.Options{Store: store, Tokens: tokens, Log: log, Now: now, Form: web.Form(o), Page: web.Refused(o)}, web.Routes(o)...)
	v := &visit{t: t, door: d, tokens: tokens, down: new(atomic.Bool)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v.down.Load() {
			panic(http.ErrAbortHandler)
		}
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections() // otherwise, an open stream of a browser would keep it waiting
		s.Close()
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v.url, v.client = s.URL, &http.Client{Jar: jar, Transport: s.Client().Transport}
	v.send("/login", url.Values{"code": {v.code()}})
	return v
}

// code returns a code that logs a browser in, once.
func (v *visit) code() string {
	code, ok := v.door.Code()
	if !ok {
		v.t.Fatal("no code to log in")
	}
	return code
}

// get returns the page at path, which must be there.
func (v *visit) get(path string) string {
	v.t.Helper()
	status, body := v.ask(http.MethodGet, path, nil)
	if status != http.StatusOK {
		v.t.Fatalf("GET %s: %d %s, want 200", path, status, body)
	}
	return body
}

// send sends a form as the page would, and returns the page that follows.
func (v *visit) send(path string, form url.Values) string {
	v.t.Helper()
	status, body := v.ask(http.MethodPost, path, form)
	if status != http.StatusOK {
		v.t.Fatalf("POST %s %v: %d %s, want 200", path, form, status, body)
	}
	return body
}

// ask makes a request, follows redirects, and returns the answer.
func (v *visit) ask(method, path string, form url.Values) (int, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", v.url)
	}
	a, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer a.Body.Close() //nolint:errcheck // it was read
	b, err := io.ReadAll(a.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return a.StatusCode, string(b)
}

// wants fails the test unless body contains each of the texts.
func wants(t *testing.T, of, body string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s has no %q:\n%s", of, text, body)
		}
	}
}

// tokenOf returns a token of a user.
func tokenOf(user, scope string) door.Token {
	return door.Token{Name: user + " " + scope, Scope: scope, User: skein.User(user)}
}

// as uses a token from now on, instead of the login.
func (v *visit) as(token string) {
	next := v.client.Transport
	if before, ok := next.(shows); ok {
		next = before.next
	}
	v.client = &http.Client{Transport: shows{token, next}}
}

// shows adds a token to requests.
type shows struct {
	token string
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (s shows) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return s.next.RoundTrip(r)
}
