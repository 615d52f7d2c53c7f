//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/remote"
)

// A balancer is one address for several servers, used in turn.
type balancer struct {
	mu      sync.Mutex
	n       int
	servers []*url.URL
}

func (b *balancer) next() *url.URL {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	return b.servers[b.n%len(b.servers)]
}

// drop stops the use of the first server.
func (b *balancer) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = b.servers[1:]
}

// serves starts a server of the machine's store and returns its address.
func (m *machine) serves() (*exec.Cmd, *url.URL) {
	m.Helper()
	cmd := m.command("1", "serve", "--listen", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		m.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		m.Fatal(err)
	}
	return cmd, u
}

// Three servers on one database are behind one address, and one of them is killed:
// a thousand sessions are written through all of them, and a reader of the stream
// misses nothing and sees nothing twice.
func TestThreeServersAreOne(t *testing.T) {
	const sessions, writers = 1000, 16
	dsn, password := database(t)
	m := newMachine(t, password, "SKEIN_STORE="+dsn)
	m.does("list") // creates the tables
	token := strings.TrimSpace(m.does("token", "add", "t", "--scope", "write,read:raw"))
	b := &balancer{}
	first, at := m.serves()
	b.servers = append(b.servers, at)
	for range 2 {
		_, at := m.serves()
		b.servers = append(b.servers, at)
	}
	one := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(b.next()) }, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusBadGateway)
	}})
	t.Cleanup(one.Close)
	s, err := remote.Open(t.Context(), remote.Options{URL: one.URL, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // its streams may have been cut

	seen := make(chan map[skein.SessionID]skein.Seq, 1)
	go func() { seen <- followed(t, s, 3*sessions) }()
	var wg sync.WaitGroup
	work := make(chan int)
	for range writers {
		wg.Go(func() {
			for i := range work {
				writeThrough(t, s, i)
			}
		})
	}
	for i := range sessions {
		if i == sessions/2 {
			if err := first.Process.Kill(); err != nil {
				t.Error(err)
			}
			b.drop()
		}
		work <- i
	}
	close(work)
	wg.Wait()
	all := <-seen
	for i := range sessions {
		if id := threeID(i); all[id] != 3 {
			t.Errorf("the stream had %d events of %s, want 3", all[id], id)
		}
		sess, err := s.Session(t.Context(), threeID(i))
		if err != nil || sess.Last != 3 || sess.Messages != 2 {
			t.Errorf("session %d ends at %d with %d messages, %v, want 3 and 2", i, sess.Last, sess.Messages, err)
		}
	}
}

func threeID(i int) skein.SessionID { return skein.SessionID(fmt.Sprint("three-", i)) }

// writeThrough writes session i. It repeats appends that a server may not have
// stored, with the same client IDs.
func writeThrough(t *testing.T, s skein.Store, i int) {
	id := threeID(i)
	evs := []skein.Event{
		skein.NewEvent(skein.KindCreated, 1, skein.Created{}),
		skein.Say(2, skein.UserSays(fmt.Sprint("question ", i))), skein.Say(3, skein.UserSays(fmt.Sprint("and ", i))),
	}
	for n := range evs {
		evs[n].ClientID = skein.ClientID(fmt.Sprint(i, "-", n))
	}
	for n := range evs {
		var err error
		for range 20 {
			if _, err = skein.Add(t.Context(), s, id, evs[n]); err == nil {
				break
			}
		}
		if err != nil {
			t.Errorf("event %d of %s: %v", n, id, err)
		}
	}
}

// followed reads n events of the feed, resuming after its server was killed, and
// returns the last seq of each session. Each event must be the next one of its
// session.
func followed(t *testing.T, s skein.Store, n int) map[skein.SessionID]skein.Seq {
	ctx, cancel := context.WithTimeout(t.Context(), late)
	defer cancel()
	last := map[skein.SessionID]skein.Seq{}
	var at skein.Cursor
	for got := 0; got < n; {
		for f, err := range skein.FeedOf(s).Feed(ctx, at) {
			if err != nil {
				break // its server was killed: resume at the same position
			}
			if last[f.Session]++; last[f.Session] != f.Event.Seq {
				t.Errorf("the stream has event %d of %s, want %d", f.Event.Seq, f.Session, last[f.Session])
				return last
			}
			at = f.Cursor
			if got++; got == n {
				break
			}
		}
		if ctx.Err() != nil {
			t.Errorf("the stream had %d of %d events in %s", got, n, late)
			return last
		}
	}
	return last
}
