package door_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/memory"
)

// registry keeps tokens in memory.
type registry struct {
	accounts.Registry // no other methods are used
	*sync.Mutex       // of the fields below
	all               map[string]accounts.Access
	in                map[[sha256.Size]byte]accounts.Login
	away              *atomic.Bool  // the registry cannot be reached
	lost              *atomic.Int32 // how many lookups of tokens are never answered
}

// reached returns an error if the registry cannot be reached.
func (r registry) reached() error {
	if r.away.Load() {
		return errors.New("connection refused")
	}
	return nil
}

func (r registry) AddAccess(_ context.Context, a accounts.Access) error {
	r.Lock()
	defer r.Unlock()
	r.all[a.Name] = a
	return nil
}

func (r registry) SetAccess(_ context.Context, a accounts.Access) error {
	r.Lock()
	defer r.Unlock()
	now := r.all[a.Name]
	now.Scope = a.Scope
	r.all[a.Name] = now
	return nil
}

func (r registry) AccessNamed(_ context.Context, name string) (accounts.Access, error) {
	r.Lock()
	defer r.Unlock()
	if err := r.reached(); err != nil {
		return accounts.Access{}, err
	}
	a, ok := r.all[name]
	if !ok {
		return a, skein.ErrNotFound
	}
	return a, nil
}

func (r registry) FindAccesses(ctx context.Context, hashes [][sha256.Size]byte) (all []accounts.Access, err error) {
	if r.lost.Add(-1) >= 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r.Lock()
	defer r.Unlock()
	for _, a := range r.all {
		if slices.Contains(hashes, a.Hash) {
			all = append(all, a)
		}
	}
	return all, r.reached()
}

func (r registry) AddLogin(_ context.Context, l accounts.Login) error {
	r.Lock()
	defer r.Unlock()
	if _, ok := r.all[l.Access.Name]; !ok {
		return skein.ErrNotFound
	}
	r.in[l.Hash] = l
	return nil
}

func (r registry) Logins(context.Context) (all []accounts.Login, err error) {
	r.Lock()
	defer r.Unlock()
	for _, l := range r.in {
		var ok bool
		if l.Access, ok = r.all[l.Access.Name]; ok {
			all = append(all, l)
		}
	}
	return all, r.reached()
}

func (r registry) FindLogins(ctx context.Context, hashes [][sha256.Size]byte) ([]accounts.Login, error) {
	all, err := r.Logins(ctx)
	return slices.DeleteFunc(all, func(l accounts.Login) bool { return !slices.Contains(hashes, l.Hash) }), err
}

func (r registry) UseLogin(_ context.Context, hash [sha256.Size]byte, at skein.Time, address string) error {
	r.Lock()
	defer r.Unlock()
	if l, ok := r.in[hash]; ok {
		l.Used, l.Address = at, address
		r.in[hash] = l
	}
	return nil
}

func (r registry) RemoveLogins(_ context.Context, ids []string) (n int, err error) {
	r.Lock()
	defer r.Unlock()
	maps.DeleteFunc(r.in, func(_ [sha256.Size]byte, l accounts.Login) bool {
		gone := slices.Contains(ids, l.ID)
		if gone {
			n++
		}
		return gone
	})
	return n, nil
}

// remove removes tokens.
func (r registry) remove(names ...string) {
	r.Lock()
	defer r.Unlock()
	for _, name := range names {
		delete(r.all, name)
	}
}

// newRegistry returns a registry without tokens.
func newRegistry() registry {
	return registry{Mutex: &sync.Mutex{}, all: map[string]accounts.Access{}, in: map[[sha256.Size]byte]accounts.Login{}, away: &atomic.Bool{}, lost: &atomic.Int32{}}
}

// node returns one of several servers on a registry, each with its own file.
func node(t *testing.T, r accounts.Registry) (*door.Tokens, http.Handler) {
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
	r := newRegistry()
	token, err := door.Register(t.Context(), r, door.Token{Name: "anns", User: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	one, a := node(t, r)
	_, b := node(t, r)
	in := login(t, a, token, "")
	ask := func(h http.Handler) *httptest.ResponseRecorder { return with(h, in, http.MethodGet, "/who") }
	for name, h := range map[string]http.Handler{"where it was made": a, "elsewhere": b} {
		if w := ask(h); w.Code != 200 || w.Body.String() != "anns write ann" {
			t.Errorf("GET %s with the login = %d %s, want ann's", name, w.Code, w.Body)
		}
	}
	// A token of that name in a server's file is another token: neither is
	// accepted in place of the other.
	if _, err := one.Add(door.Token{Name: "anns", Scope: "admin"}); err != nil {
		t.Fatal(err)
	}
	if w := ask(a); w.Code != 401 {
		t.Errorf("GET with the login of another token of that name = %d %s, want 401", w.Code, w.Body)
	}
	if found, err := one.Find(t.Context(), token); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Find = %+v, %v, want none: its logins would be the file's token's", found, err)
	}
	r.remove("anns")
	if w := ask(b); w.Code != 401 {
		t.Errorf("GET after the token was removed = %d, want 401", w.Code)
	}
}

// A program that hears that its token is wrong discards it, and a client that
// sends many wrong ones is locked out.
func TestWhileTokensCannotBeLookedUpNoneIsWrong(t *testing.T) {
	r := newRegistry()
	token, err := door.Register(t.Context(), r, door.Token{Name: "anns", User: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	_, h := node(t, r)
	ask := func(set func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/who", nil)
		set(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	shown := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	in := login(t, h, token, "")
	loggedIn := func(r *http.Request) { r.AddCookie(in) }
	r.away.Store(true)
	for range 300 { // so many wrong ones would be too many
		if w := ask(shown); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Fatalf("GET with a token that cannot be looked up = %d %s, want 503 and when to try again", w.Code, w.Body)
		}
	}
	if w := ask(loggedIn); w.Code != 503 {
		t.Errorf("GET with a login that cannot be looked up = %d %s, want 503", w.Code, w.Body)
	}
	if w := typed(h, token, ""); w.Code != 503 {
		t.Errorf("POST /login with a token that cannot be looked up = %d %s, want 503", w.Code, w.Body)
	}
	r.away.Store(false)
	for name, as := range map[string]func(*http.Request){"the token": shown, "the login": loggedIn} {
		if w := ask(as); w.Code != 200 {
			t.Errorf("GET with %s afterwards = %d %s, want 200", name, w.Code, w.Body)
		}
	}
}

// A standby knows the tokens, but it cannot store a login.
type standby struct{ registry }

func (standby) AddLogin(context.Context, accounts.Login) error {
	return fmt.Errorf("postgres: add a login: %w", skein.ErrReadOnly)
}

func TestALoginAtAReadOnlyStoreSaysWhereToLogIn(t *testing.T) {
	r := standby{newRegistry()}
	token, err := door.Register(t.Context(), r, door.Token{Name: "anns", User: "ann", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	_, h := node(t, r)
	w := typed(h, token, "")
	if w.Code != 503 || !strings.Contains(w.Body.String(), "log in at a server that writes to it") || w.Header().Get("Retry-After") != "" {
		t.Errorf("POST /login = %d %s, want 503 that says where to log in, and not to try again", w.Code, w.Body)
	}
}
