package remote_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/remote"
	"github.com/skein-dev/skein/store/sqlite"
)

// network is the network between a client and a server: it may lose things.
type network struct {
	*httptest.Server
	lose atomic.Int64           // how many responses to appends are still to be lost
	busy atomic.Int64           // how many appends are still to be refused, before anything else
	hold atomic.Pointer[func()] // called before the response to an append
	asks atomic.Int64           // appends that arrived
}

func between(t *testing.T, to http.Handler) *network {
	t.Helper()
	n := &network{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/append" {
			to.ServeHTTP(w, r)
			return
		}
		n.asks.Add(1)
		if n.busy.Add(-1) >= 0 {
			io.Copy(io.Discard, r.Body) //nolint:errcheck // then the client sees an error, too
			refuse := httptest.NewRecorder()
			door.Fail(refuse, r, door.ErrBusy)
			w.Header().Set("Content-Type", refuse.Header().Get("Content-Type")) // without the pause, which a test does not wait for
			w.WriteHeader(refuse.Code)
			w.Write(refuse.Body.Bytes()) //nolint:errcheck // then the client sees an error, too
			return
		}
		answer := httptest.NewRecorder()
		to.ServeHTTP(answer, r)
		if hold := n.hold.Load(); hold != nil {
			(*hold)()
		}
		if n.lose.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		for name, v := range answer.Header() {
			w.Header()[name] = v
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes()) //nolint:errcheck // the client has gone
	}))
	t.Cleanup(func() {
		n.CloseClientConnections()
		n.Close()
	})
	return n
}

func open(t *testing.T, o remote.Options) *remote.Store {
	t.Helper()
	s, err := remote.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func begin(t *testing.T, s skein.Store, id skein.SessionID) {
	t.Helper()
	if _, err := skein.Add(t.Context(), s, id, skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
		t.Fatal(err)
	}
}

func said(text string, id skein.ClientID) skein.Event {
	e := skein.Say(1, skein.UserSays(text))
	e.ClientID = id
	return e
}

func end(t *testing.T, s skein.Store, id skein.SessionID) skein.Seq {
	t.Helper()
	x, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return x.Last
}

func TestALostAnswerIsSettledByClientIDs(t *testing.T) {
	behind := memory.New()
	site := serve(t, behind)
	n := between(t, site.door)
	s := open(t, remote.Options{URL: n.URL, Token: site.tokens.First()})
	begin(t, s, "a")
	n.lose.Store(2)
	if seq, err := skein.Add(t.Context(), s, "a", said("x", "one"), said("y", "two")); err != nil || seq != 3 {
		t.Errorf("Append whose answer was lost twice = %d, %v, want 3", seq, err)
	}
	if got := end(t, behind, "a"); got != 3 {
		t.Errorf("the session ends at %d, want 3", got)
	}
	n.lose.Store(100)
	if _, err := skein.Add(t.Context(), s, "a", said("z", "three")); !errors.Is(err, skein.ErrUnknown) {
		t.Errorf("Append whose answers are all lost = %v, want %v", err, skein.ErrUnknown)
	}
	n.lose.Store(0)
	if seq, err := skein.Add(t.Context(), s, "a", said("z", "three")); err != nil || seq != 4 {
		t.Errorf("the same once more = %d, %v, want 4", seq, err)
	}
}

func TestABusyServerIsAskedAgain(t *testing.T) {
	behind := memory.New()
	site := serve(t, behind)
	n := between(t, site.door)
	s := open(t, remote.Options{URL: n.URL, Token: site.tokens.First()})
	begin(t, s, "a")
	for what, id := range map[string]skein.ClientID{"with a client ID": "one", "without a client ID": ""} {
		last := end(t, behind, "a")
		n.asks.Store(0)
		n.busy.Store(2)
		if seq, err := skein.Add(t.Context(), s, "a", said("x", id)); err != nil || seq != last+1 || n.asks.Load() != 3 || end(t, behind, "a") != last+1 {
			t.Errorf("Append %s to a server that was busy twice = %d, %v after %d tries; want %d, stored once after 3", what, seq, err, n.asks.Load(), last+1)
		}
		n.busy.Store(100)
		if _, err := skein.Add(t.Context(), s, "a", said("x", id)); !errors.Is(err, door.ErrBusy) || errors.Is(err, skein.ErrUnknown) || end(t, behind, "a") != last+1 {
			t.Errorf("Append %s to a server that stays busy = %v, want %v, and nothing stored", what, err, door.ErrBusy)
		}
		n.busy.Store(0)
	}
}

// The first try was stored, but its answer was lost. So the refusal of the second try
// must not be reported as the outcome.
func TestABusyServerAfterALostAnswerLeavesItOpen(t *testing.T) {
	behind := memory.New()
	site := serve(t, behind)
	n := between(t, site.door)
	s := open(t, remote.Options{URL: n.URL, Token: site.tokens.First()})
	begin(t, s, "a")
	n.lose.Store(1)
	busy := func() { n.busy.Store(100) }
	n.hold.Store(&busy)
	if _, err := skein.Add(t.Context(), s, "a", said("x", "one")); !errors.Is(err, skein.ErrUnknown) || end(t, behind, "a") != 2 {
		t.Errorf("Append whose answer was lost, and busy then = %v, the session ends at %d; want %v, and 2", err, end(t, behind, "a"), skein.ErrUnknown)
	}
}

func TestTheServerSaysHowLongToWait(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 400 * time.Millisecond, "0": 400 * time.Millisecond, "7": 7 * time.Second, "86400": 30 * time.Second, "soon": 400 * time.Millisecond} {
		w := httptest.NewRecorder()
		w.Header().Set("Retry-After", header)
		w.WriteHeader(http.StatusServiceUnavailable)
		if got := remote.PauseAfter(2, w.Result()); got != want { //nolint:bodyclose // it is empty
			t.Errorf("after a second refusal with Retry-After: %q, it waits %v, want %v", header, got, want)
		}
	}
}

func TestALostAnswerWithoutClientIDsIsUnknownAndNotSentAgain(t *testing.T) {
	site := serve(t, memory.New())
	n := between(t, site.door)
	s := open(t, remote.Options{URL: n.URL, Token: site.tokens.First()})
	begin(t, s, "a")
	n.asks.Store(0)
	n.lose.Store(1)
	if _, err := skein.Add(t.Context(), s, "a", said("x", "one"), said("y", "")); !errors.Is(err, skein.ErrUnknown) {
		t.Errorf("Append whose answer was lost = %v, want %v", err, skein.ErrUnknown)
	}
	if n.asks.Load() != 1 || end(t, s, "a") != 3 {
		t.Errorf("it was sent %d times, and the session ends at %d; want once, and 3", n.asks.Load(), end(t, s, "a"))
	}
}

func TestWhoGivesUpHearsWhatBecameOfIt(t *testing.T) {
	site := serve(t, memory.New())
	n := between(t, site.door)
	s := open(t, remote.Options{URL: n.URL, Token: site.tokens.First()})
	begin(t, s, "a")
	ctx, cancel := context.WithCancel(t.Context())
	hold := func() { cancel() } // the caller gives up when it is stored
	n.hold.Store(&hold)
	if seq, err := skein.Add(ctx, s, "a", said("x", "")); err != nil || seq != 2 {
		t.Errorf("Append that was given up after its commit = %d, %v, want 2", seq, err)
	}
}

func TestStreamsAreTakenUpAgain(t *testing.T) {
	behind := memory.New()
	site := serve(t, behind)
	s := open(t, remote.Options{URL: site.URL, Token: site.tokens.First()})
	begin(t, behind, "a")
	seqs, fed := make(chan skein.Seq), make(chan skein.Seq)
	ctx, cancel := context.WithCancel(t.Context())
	var streams sync.WaitGroup
	streams.Go(func() {
		for e, err := range s.Watch(ctx, "a", 0) {
			if err != nil {
				t.Errorf("Watch yields %v", err)
			}
			seqs <- e.Seq
		}
	})
	streams.Go(func() {
		for e, err := range s.Feed(ctx, "") {
			if err != nil {
				t.Errorf("Feed yields %v", err)
			}
			fed <- e.Event.Seq
		}
	})
	for want := skein.Seq(1); want <= 6; want++ {
		if w, f := <-seqs, <-fed; w != want || f != want {
			t.Errorf("Watch yields %d, Feed %d, want %d", w, f, want)
		}
		if want%2 == 0 {
			site.CloseClientConnections()
		}
		if _, err := skein.Add(t.Context(), behind, "a", said("x", "")); err != nil {
			t.Fatal(err)
		}
	}
	<-seqs
	<-fed
	cancel()
	streams.Wait()
}

func TestWhatCanBeWrongWithAServer(t *testing.T) {
	site := serve(t, memory.New())
	reader, err := site.tokens.Add(door.Token{Name: "r", Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved/v1/store" {
			http.Redirect(w, r, site.URL+"/v1/store", http.StatusMovedPermanently)
			return
		}
		http.NotFound(w, r)
	}))
	defer other.Close()
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		door.Refuse(w, r, http.StatusServiceUnavailable, "unavailable", "the token cannot be looked up now: try again")
	}))
	defer away.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	first := site.tokens.First()
	for _, c := range []struct {
		url, token string
		want       error
	}{
		{site.URL, first, nil},
		{site.URL + "/", first, nil},
		{site.URL, first + "x", remote.ErrToken},
		{site.URL, "", remote.ErrToken},
		{site.URL, "a\nb", remote.ErrToken},
		{site.URL + "/deeper", first, remote.ErrVersion},
		{other.URL, first, remote.ErrVersion},
		{other.URL + "/moved", first, remote.ErrVersion},
		{nobody, first, remote.ErrUnreachable},
		{away.URL, first, remote.ErrUnreachable},
		{"http://skein.example:7433", first, skein.ErrInvalid},
		{"ftp://127.0.0.1", first, skein.ErrInvalid},
		{"https://", first, skein.ErrInvalid},
		{"http://token@127.0.0.1", first, skein.ErrInvalid},
		{site.URL + "?token=x", first, skein.ErrInvalid},
		{"http://127.0.0.1:x", first, skein.ErrInvalid},
	} {
		s, err := remote.Open(t.Context(), remote.Options{URL: c.url, Token: c.token})
		if !errors.Is(err, c.want) {
			t.Errorf("Open(%s) with token %.5q… = %v, want %v", c.url, c.token, err, c.want)
		}
		if err == nil {
			s.Close()
		} else if c.token != "" && strings.Contains(err.Error(), c.token) {
			t.Errorf("Open(%s) tells the token: %v", c.url, err)
		}
	}
	s := open(t, remote.Options{URL: site.URL, Token: reader})
	if _, err := skein.Add(t.Context(), s, "a", said("x", "")); !errors.Is(err, remote.ErrForbidden) || errors.Is(err, remote.ErrAdmin) || errors.Is(err, skein.ErrUnknown) {
		t.Errorf("Append with a token to read = %v, want %v", err, remote.ErrForbidden)
	}
}

func TestATokenOfOneUserSeesThatOneAlone(t *testing.T) {
	behind := memory.New()
	site := serve(t, behind)
	token, err := site.tokens.Add(door.Token{Name: "ann", Scope: "write,read:raw", User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, behind.As("bob"), "bobs")
	s := open(t, remote.Options{URL: site.URL, Token: token})
	begin(t, s, "hers")
	if got, err := behind.As("ann").Session(t.Context(), "hers"); err != nil || s.Owner() != "ann" {
		t.Errorf("what ann's token begins is %+v, %v; want hers", got, err)
	}
	if _, err := s.Session(t.Context(), "bobs"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Session of bob = %v, want %v", err, skein.ErrNotFound)
	}
	if _, err := s.As("bob").Session(t.Context(), "bobs"); !errors.Is(err, remote.ErrForbidden) {
		t.Errorf("Session of bob as bob = %v, want %v", err, remote.ErrForbidden)
	}
	if _, err := s.As("ann").Session(t.Context(), "hers"); err != nil {
		t.Errorf("Session as ann = %v", err)
	}
}

func TestALeaseLastsAsLongAsItsProcess(t *testing.T) {
	const lasts = time.Second
	var passed atomic.Int64 // by the clock of the server
	clock := func() time.Time { return time.Unix(1_800_000_000, passed.Load()) }
	behind, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	site := serve(t, behind)
	renewed := make(chan struct{}, 100)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &status{w, http.StatusOK}
		if site.door.ServeHTTP(answer, r); strings.HasSuffix(r.URL.Path, "/renew") && answer.code == http.StatusOK {
			renewed <- struct{}{}
		}
	}))
	defer h.Close()
	s := open(t, remote.Options{URL: h.URL, Token: site.tokens.First(), Lease: lasts})
	begin(t, s, "a")
	l, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{Program: "skein chat"})
	if host, _ := os.Hostname(); err != nil || l.Holder.PID != os.Getpid() || l.Holder.Host != host || l.Expires != 0 {
		t.Fatalf("Acquire = %+v, %v, want this process and no end", l, err)
	}
	for range 2 {
		<-renewed
		passed.Add(int64(lasts * 3 / 4))
	}
	other := open(t, remote.Options{URL: site.URL, Token: site.tokens.First()})
	if _, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{}); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Acquire while another holds it = %v, want %v", err, skein.ErrLocked)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if _, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{}); err != nil {
		t.Errorf("Acquire after the other was closed = %v", err)
	}
}

// status records the status of a response.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func TestOverTLS(t *testing.T) {
	site := serve(t, memory.New())
	h := httptest.NewTLSServer(site.door)
	defer h.Close()
	if _, err := remote.Open(t.Context(), remote.Options{URL: h.URL, Token: site.tokens.First()}); !errors.Is(err, remote.ErrUnreachable) {
		t.Errorf("Open of a server with a certificate that nobody knows = %v, want %v", err, remote.ErrUnreachable)
	}
	roots := x509.NewCertPool()
	roots.AddCert(h.Certificate())
	s := open(t, remote.Options{URL: h.URL, Token: site.tokens.First(), TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	begin(t, s, "a")
	if got := end(t, s, "a"); got != 1 {
		t.Errorf("the session ends at %d, want 1", got)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	site := serve(t, memory.New())
	var made atomic.Int64
	h := httptest.NewUnstartedServer(site.door)
	h.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			made.Add(1)
		}
	}
	h.Start()
	defer h.Close()
	s := open(t, remote.Options{URL: h.URL, Token: site.tokens.First()})
	begin(t, s, "a")
	for range 5 {
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				if _, err := skein.Add(t.Context(), s, "a", said("x", "")); err != nil {
					t.Errorf("Append = %v", err)
				}
			})
		}
		all.Wait()
	}
	if n := made.Load(); n > 2*64 {
		t.Errorf("320 appends, 64 at once, took %d connections, want about 64", n)
	}
}
