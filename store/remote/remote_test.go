package remote_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/server"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/postgres"
	"github.com/skein-dev/skein/store/remote"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/storetest"
)

func TestMain(m *testing.M) {
	storetest.Child(dial)
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/skein-dev/skein/internal/pgtest.reap"))
}

// lease is how long the lease of a killed process lasts in these tests.
const lease = 8 * time.Second

// dial opens the store at a server: its URL with the token as the fragment, a notation
// that only this test uses.
func dial(address string) (skein.Store, error) {
	u, token, _ := strings.Cut(address, "#")
	return remote.Open(context.Background(), remote.Options{URL: u, Token: token, Lease: lease})
}

// site is a server in front of a store.
type site struct {
	*httptest.Server
	tokens *door.Tokens
	door   *door.Door
}

func serve(t *testing.T, s skein.Store) *site {
	t.Helper()
	tokens, err := door.OpenTokens(filepath.Join(t.TempDir(), "tokens"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	d := door.New(door.Options{Store: s, Tokens: tokens, Log: slog.New(slog.DiscardHandler), Now: time.Now},
		server.Routes(server.Options{Version: "test", Now: time.Now})...)
	h := httptest.NewServer(d)
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		s.Close()
	})
	return &site{h, tokens, d}
}

func (s *site) address() string { return s.URL + "#" + s.tokens.First() }

// together are the promises that the client and the server keep together with
// the store behind them, each by what it knows: which writes were answered, who
// holds a lease, what comes after Close and after a killed process, what a
// watcher and a reader of the feed have seen, and whose view it is. The others are
// the store's own, which its own tests keep.
var together = []string{"01", "04", "06", "12", "14", "17", "23", "27"}

// suite tests promises of the stores behind new servers; nil means all promises.
func suite(t *testing.T, promises []string, behind func(*testing.T) skein.Store) {
	var addresses sync.Map // of each store
	open := func(t *testing.T) skein.Store {
		at := serve(t, behind(t)).address()
		s, err := dial(at)
		if err != nil {
			t.Fatal(err)
		}
		addresses.Store(s, at)
		return s
	}
	address := func(s skein.Store) string {
		at, _ := addresses.Load(s)
		return fmt.Sprint(at)
	}
	storetest.Run(t, open, storetest.Options{Address: address, Dial: dial, Frees: lease, Promises: promises})
}

func TestStoreOfMemory(t *testing.T) {
	suite(t, nil, func(*testing.T) skein.Store { return memory.New() })
}

// TestStoreOfSQLite tests in a long run that SQLite keeps its own promises behind a
// server, too.
func TestStoreOfSQLite(t *testing.T) {
	promises := together
	if !testing.Short() {
		promises = nil
	}
	suite(t, promises, func(t *testing.T) skein.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "skein.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestStoreOfPostgreSQL(t *testing.T) {
	connect := func(t *testing.T, dsn string) skein.Store {
		s, err := postgres.Open(t.Context(), dsn, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	tables := pgtest.DSN(t)
	if err := connect(t, tables).Close(); err != nil {
		t.Fatal(err)
	}
	suite(t, together, func(t *testing.T) skein.Store { return connect(t, pgtest.Copy(t, tables)) })
}
