package door_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/memory"
)

// A home is what several servers share tokens in: a state folder, or a
// registry.
type home struct {
	token string
	open  func(t *testing.T) (*door.Tokens, *door.Door) // starts one more server, or one again
}

// homes returns a home of each kind.
func homes(t *testing.T, now func() time.Time) map[string]home {
	t.Helper()
	serve := func(tokens *door.Tokens) (*door.Tokens, *door.Door) {
		return tokens, door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: now},
			door.Route{Pattern: "GET /who", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Write([]byte(door.From(r.Context()).Login)) //nolint:errcheck // a recorder
			})},
			door.Route{Pattern: "GET /stream", Scope: door.Read, Stream: true, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })},
		)
	}
	open := func(t *testing.T, path string) *door.Tokens {
		t.Helper()
		tokens, err := door.OpenTokens(path, now)
		if err != nil {
			t.Fatal(err)
		}
		return tokens
	}
	path := t.TempDir() + "/tokens"
	inFile, err := open(t, path).Add(door.Token{Name: "anns", User: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRegistry()
	inRegistry, err := door.Register(t.Context(), r, door.Token{Name: "anns", User: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]home{
		"a file": {inFile, func(t *testing.T) (*door.Tokens, *door.Door) { return serve(open(t, path)) }},
		"a registry": {inRegistry, func(t *testing.T) (*door.Tokens, *door.Door) {
			tokens := open(t, t.TempDir()+"/tokens")
			tokens.In(r)
			return serve(tokens)
		}},
	}
}

// typed sends the login form with a token that a person typed.
func typed(h http.Handler, token, agent string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/login", strings.NewReader("token="+token))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("User-Agent", agent)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// login logs a browser in with the form, and returns its cookie.
func login(t *testing.T, h http.Handler, token, agent string) *http.Cookie {
	t.Helper()
	w := typed(h, token, agent)
	all := w.Result().Cookies() //nolint:bodyclose // a recorder's
	if len(all) != 1 {
		t.Fatalf("POST /login = %d %s, want a cookie", w.Code, w.Body)
	}
	return all[0]
}

// with sends a request with a cookie.
func with(h http.Handler, c *http.Cookie, method, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, nil)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(c)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAnEndedLoginIsEndedOnEveryServerAndAfterARestart(t *testing.T) {
	for name, at := range homes(t, time.Now) {
		t.Run("in "+name, func(t *testing.T) {
			tokens, here := at.open(t)
			_, there := at.open(t)
			out, ended, kept := login(t, here, at.token, ""), login(t, here, at.token, ""), login(t, here, at.token, "")
			for _, c := range []*http.Cookie{out, ended, kept} {
				if w := with(there, c, "GET", "/who"); w.Code != http.StatusOK {
					t.Fatalf("GET elsewhere with a login = %d %s, want 200", w.Code, w.Body)
				}
			}
			if w := with(here, out, "POST", "/logout"); w.Code != http.StatusSeeOther {
				t.Fatalf("POST /logout = %d %s, want 303", w.Code, w.Body)
			}
			if err := tokens.EndLogins(t.Context(), with(here, ended, "GET", "/who").Body.String()); err != nil {
				t.Fatal(err)
			}
			_, restarted := at.open(t)
			for where, h := range map[string]http.Handler{"here": here, "elsewhere": there, "after a restart": restarted} {
				for what, c := range map[string]*http.Cookie{"was logged out": out, "was ended": ended} {
					w := with(h, c, "GET", "/who")
					if w.Code != http.StatusUnauthorized {
						t.Errorf("GET %s with a login that %s = %d, want 401", where, what, w.Code)
					}
					if got := w.Header().Get("Clear-Site-Data"); got != `"cache"` {
						t.Errorf("GET %s with a login that %s: Clear-Site-Data is %q, so the browser keeps its pages", where, what, got)
					}
				}
				if w := with(h, kept, "GET", "/who"); w.Code != http.StatusOK {
					t.Errorf("GET %s with another login = %d, want 200", where, w.Code)
				}
			}
			if err := tokens.EndLogins(t.Context(), "nobody's"); !errors.Is(err, skein.ErrNotFound) {
				t.Errorf("EndLogins of none = %v, want %v", err, skein.ErrNotFound)
			}
		})
	}
}

func TestAStreamEndsWithItsLogin(t *testing.T) {
	for _, name := range []string{"a file", "a registry"} {
		synctest.Test(t, func(t *testing.T) {
			at := homes(t, time.Now)[name]
			tokens, here := at.open(t)
			_, there := at.open(t)
			c := login(t, here, at.token, "")
			id := with(here, c, "GET", "/who").Body.String()
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/stream", nil)
			r.AddCookie(c)
			took := lasts(t, there, r, time.Hour, func() {
				if err := tokens.EndLogins(context.Background(), id); err != nil {
					t.Error(err)
				}
			})
			if took > time.Second {
				t.Errorf("a stream elsewhere stays open for %v after its login in %s ended, want at most a second", took, name)
			}
		})
	}
}

func TestLoginsAreListedWithDeviceAddressAndLastUse(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	began := now
	for name, at := range homes(t, func() time.Time { return now }) {
		now = began
		tokens, h := at.open(t)
		c := login(t, h, at.token, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		now = now.Add(2 * time.Hour)
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/who", nil)
		r.RemoteAddr = "[2001:db8::7]:4711"
		r.AddCookie(c)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		all, err := tokens.Logins(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("Logins in %s = %+v, %v, want one", name, all, err)
		}
		l := all[0]
		if l.ID == "" || l.ID != w.Body.String() || l.Access.Name != "anns" || l.Access.User != "ann" || l.Device != "Firefox on Linux" || l.Address != "2001:db8::7" ||
			l.Created != skein.At(began) || l.Used != skein.At(now) {
			t.Errorf("the login in %s is %+v", name, l)
		}
		if now = now.Add(31 * 24 * time.Hour); with(h, c, "GET", "/who").Code != http.StatusUnauthorized {
			t.Errorf("a login in %s lets in after a month", name)
		}
		if all, err := tokens.Logins(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("Logins in %s after a month = %+v, %v, want none", name, all, err)
		}
	}
}

func TestOfOneTokenThereAreNotEndlesslyManyLogins(t *testing.T) {
	at := homes(t, time.Now)["a file"]
	tokens, h := at.open(t)
	for range accounts.MaxLogins + 5 {
		login(t, h, at.token, "")
	}
	if all, err := tokens.Logins(t.Context()); err != nil || len(all) != accounts.MaxLogins {
		t.Errorf("%d logins with one token leave %d, %v, want %d", accounts.MaxLogins+5, len(all), err, accounts.MaxLogins)
	}
}

func TestAFileOfTokensIsNotFollowedElsewhere(t *testing.T) {
	dir := t.TempDir()
	if _, err := door.OpenTokens(dir+"/real", time.Now); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir+"/real", dir+"/tokens"); err != nil {
		t.Fatal(err)
	}
	if _, err := door.OpenTokens(dir+"/tokens", time.Now); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("OpenTokens of a symbolic link = %v, want an error that says so", err)
	}
}
