package door_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/memory"
)

// lingering returns a door whose routes stay open until their context ends.
func lingering(tokens *door.Tokens) *door.Door {
	stay := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	return door.New(door.Options{Store: memory.New(), Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now},
		door.Route{Pattern: "GET /stream", Scope: door.Read, Stream: true, Handler: stay},
		door.Route{Pattern: "POST /mcp", Scope: door.Read, Body: door.MB, Handler: stay},
	)
}

// registered returns the tokens of a file and of a registry.
func registered(t *testing.T) (*door.Tokens, registry) {
	t.Helper()
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	r := newRegistry()
	tokens.In(r)
	return tokens, r
}

// asking returns a request, such as GET /stream, with a token.
func asking(what, token string) *http.Request {
	method, path, _ := strings.Cut(what, " ")
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// lasts returns how long a request stays open after revoke, which is called
// when the request has been open for a while. keep is how long it stays open if
// nothing ends it.
func lasts(t *testing.T, h http.Handler, r *http.Request, keep time.Duration, revoke func()) time.Duration {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		h.ServeHTTP(w, r.WithContext(ctx))
	}()
	time.AfterFunc(3*time.Second+50*time.Millisecond, revoke) //nolint:usetesting // of the bubble's clock
	began := time.Now()
	time.AfterFunc(3*time.Second+keep, cancel)
	<-done
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s = %d %s, want it to be let in", r.Method, r.URL.Path, w.Code, w.Body)
	}
	return time.Since(began) - 3*time.Second
}

func TestWhatIsOpenEndsWithinASecondOfItsToken(t *testing.T) {
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for name, revoke := range map[string]func(tokens *door.Tokens, r registry){
		"removed":           func(tokens *door.Tokens, _ registry) { must(tokens.Remove("t")) },
		"removed elsewhere": func(tokens *door.Tokens, _ registry) { again(t, tokens, func(o *door.Tokens) { must(o.Remove("t")) }) },
		"narrowed": func(tokens *door.Tokens, _ registry) {
			again(t, tokens, func(o *door.Tokens) { must(o.SetScope("t", "read")) })
		},
		"narrowed in a registry":        func(_ *door.Tokens, r registry) { must(door.SetScope(context.Background(), r, "t", "read")) },
		"of another user in a registry": func(tokens *door.Tokens, r registry) { change(r, func(a *accounts.Access) { a.User = "bob" }) },
		"removed in a registry":         func(tokens *door.Tokens, r registry) { r.remove("t") },
	} {
		for _, at := range []string{"GET /stream", "POST /mcp"} {
			t.Run(name+" "+at, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					tokens, r := registered(t)
					var token string
					var err error
					if !strings.HasSuffix(name, "in a registry") {
						token, err = tokens.Add(door.Token{Name: "t", Scope: "write"})
					} else {
						token, err = door.Register(t.Context(), r, door.Token{Name: "t", User: "ann", Scope: "write"})
					}
					if err != nil {
						t.Fatal(err)
					}
					h := lingering(tokens)
					if took := lasts(t, h, asking(at, token), time.Hour, func() { revoke(tokens, r) }); took > time.Second {
						t.Errorf("%s stays open for %v after its token was %s, want at most a second", at, took, name)
					}
					if took := lasts(t, h, asking(at, tokens.First()), 10*time.Second, func() {}); took < 10*time.Second {
						t.Errorf("%s with a token that lives ends after %v by itself", at, took)
					}
				})
			})
		}
	}
}

// again calls f with another handle on the file of tokens, like that of another
// process.
func again(t *testing.T, tokens *door.Tokens, f func(*door.Tokens)) {
	t.Helper()
	other, err := door.OpenTokens(tokens.Path(), time.Now)
	if err != nil {
		t.Error(err)
		return
	}
	f(other)
}

// change changes the tokens of a registry.
func change(r registry, f func(*accounts.Access)) {
	r.Lock()
	defer r.Unlock()
	for name, a := range maps.Clone(r.all) {
		f(&a)
		r.all[name] = a
	}
}

// A lookup without an answer delays neither the next one nor the file.
func TestWhatIsOpenEndsWithItsTokenWhereTheRegistryIsSlow(t *testing.T) {
	for _, of := range []string{"registry", "file"} {
		t.Run(of, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tokens, r := registered(t)
				others, err := door.Register(t.Context(), r, door.Token{Name: "others", User: "bob", Scope: "write"})
				if err != nil {
					t.Fatal(err)
				}
				token := others
				if of == "file" {
					if token, err = tokens.Add(door.Token{Name: "t", Scope: "write"}); err != nil {
						t.Fatal(err)
					}
				}
				h := lingering(tokens)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go h.ServeHTTP(httptest.NewRecorder(), asking("GET /stream", others).WithContext(ctx)) // that the registry is asked about
				synctest.Wait()
				took := lasts(t, h, asking("GET /stream", token), time.Hour, func() {
					if r.lost.Store(1); of == "registry" {
						r.remove("others")
						return
					}
					r.lost.Store(1000)
					if err := tokens.Remove("t"); err != nil {
						t.Error(err)
					}
				})
				if took > time.Second {
					t.Errorf("a stream stays open for %v after its token was removed from the %s, want at most a second", took, of)
				}
			})
		})
	}
}

// A database that is away for a moment says nothing about a token: requests go
// on.
func TestWhatIsOpenStaysWhileTokensCannotBeLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, r := registered(t)
		const token = "skein_of-the-registry"
		r.all["t"] = accounts.Access{Name: "t", Scope: "read", Hash: sha256.Sum256([]byte(token))}
		if took := lasts(t, lingering(tokens), asking("GET /stream", token), 10*time.Second, func() { r.away.Store(true) }); took < 10*time.Second {
			t.Errorf("a stream whose registry is away ends after %v", took)
		}
	})
}
