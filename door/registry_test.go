package door_test

import (
	"context"
	"crypto/sha256"
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
)

// registry keeps tokens in memory.
type registry struct {
	skein.Registry // of which nothing else is used
	all            map[string]skein.Access
}

func (r registry) AddAccess(_ context.Context, a skein.Access) error {
	r.all[a.Name] = a
	return nil
}

func (r registry) AccessNamed(_ context.Context, name string) (skein.Access, error) {
	a, ok := r.all[name]
	if !ok {
		return a, skein.ErrNotFound
	}
	return a, nil
}

func (r registry) FindAccess(_ context.Context, hash [sha256.Size]byte) (skein.Access, error) {
	for _, a := range r.all {
		if a.Hash == hash {
			return a, nil
		}
	}
	return skein.Access{}, skein.ErrNotFound
}

func (r registry) LoginSecret(context.Context) (string, error) { return strings.Repeat("s", 64), nil }

// node is one of several servers on a registry, each with a file of its own.
func node(t *testing.T, r skein.Registry) (*door.Tokens, http.Handler) {
	t.Helper()
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tokens.In(r)
	who := door.Route{Pattern: "GET /who", Scope: door.Read, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := door.From(r.Context())
		w.Write([]byte(v.Token + " " + v.Scope.String() + " " + string(v.User)))
	})}
	return tokens, door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now}, who)
}

func TestALoginOnOneServerIsOneOnAll(t *testing.T) {
	r := registry{all: map[string]skein.Access{}}
	token, err := door.Register(t.Context(), r, door.Token{Name: "anns", User: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	one, a := node(t, r)
	_, b := node(t, r)
	login := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/login", strings.NewReader("token="+token))
	login.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	login.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, login)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("POST /login = %d %s, want a cookie", w.Code, w.Body)
	}
	ask := func(h http.Handler) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/who", nil)
		r.AddCookie(cookies[0])
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for name, h := range map[string]http.Handler{"where it was made": a, "elsewhere": b} {
		if w := ask(h); w.Code != 200 || w.Body.String() != "anns write ann" {
			t.Errorf("GET %s with the login = %d %s, want ann's", name, w.Code, w.Body)
		}
	}
	// A token of that name in a server's file is another: neither stands for the
	// other one.
	if _, err := one.Add(door.Token{Name: "anns", Scope: "admin"}); err != nil {
		t.Fatal(err)
	}
	if w := ask(a); w.Code != 401 {
		t.Errorf("GET with the login of another token of that name = %d %s, want 401", w.Code, w.Body)
	}
	if found, ok := one.Find(token); ok {
		t.Errorf("Find = %+v, want none: its logins would be the file's token's", found)
	}
	delete(r.all, "anns")
	if w := ask(b); w.Code != 401 {
		t.Errorf("GET after the token was removed = %d, want 401", w.Code)
	}
}
