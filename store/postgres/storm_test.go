package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres"
)

// A storm is writers that append to a few sessions while something is done to the
// server, and the answers that they got.
type storm struct {
	t      *testing.T
	store  skein.Store
	ctx    context.Context
	end    context.CancelFunc
	wg     sync.WaitGroup
	landed chan struct{} // gets one for each acknowledged append, if there is room

	mu      sync.Mutex
	acked   map[skein.ClientID]skein.Place
	refused map[skein.ClientID]error // that were answered with an error which says that nothing is stored
	unknown int
}

// Sessions of a storm, and writers to each.
const (
	stormSessions = 4
	stormWriters  = 4
)

// begin makes the sessions and starts the writers on the stores in turn.
func begin(t *testing.T, stores ...skein.Store) *storm {
	t.Helper()
	w := &storm{t: t, store: stores[0], acked: map[skein.ClientID]skein.Place{}, refused: map[skein.ClientID]error{}, landed: make(chan struct{}, 1)}
	w.ctx, w.end = context.WithCancel(t.Context())
	t.Cleanup(w.end)
	for i := range stormSessions {
		add(t, stores[0], stormSession(i), created())
	}
	for i := range stormSessions * stormWriters {
		w.wg.Go(func() { w.write(stores[i%len(stores)], stormSession(i%stormSessions), fmt.Sprint("w", i)) })
	}
	return w
}

func stormSession(i int) skein.SessionID { return skein.SessionID(fmt.Sprint("storm-", i)) }

// write appends one message after the other. If it is unknown whether one is stored, it
// is sent again with the same client ID until that is known.
func (w *storm) write(s skein.Store, id skein.SessionID, name string) {
	for i := 0; w.ctx.Err() == nil; i++ {
		client, maybe := skein.ClientID(fmt.Sprint(name, "-", i)), false
		e := skein.Say(noon, skein.UserSays(string(client)))
		e.ClientID = client
		for w.ctx.Err() == nil {
			// Only an answer ends an append; the end of the storm must not.
			rs, err := s.Append(context.WithoutCancel(w.ctx), skein.Batch{Session: id, Events: []skein.Event{e}})
			maybe = maybe || errors.Is(err, skein.ErrUnknown)
			if w.answered(id, client, rs, err, maybe) {
				break
			}
		}
	}
}

// answered records an answer and reports whether it is final. maybe says that an
// earlier try may have stored the event: then only a receipt is final.
func (w *storm) answered(id skein.SessionID, client skein.ClientID, rs []skein.Receipt, err error, maybe bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acked[client] = skein.Place{Session: id, Seq: rs[0].Seqs[0]}
		select {
		case w.landed <- struct{}{}:
		default:
		}
		return true
	case maybe:
		w.unknown++
		return false
	}
	w.refused[client] = err
	return true
}

// goes waits until n more appends are acknowledged.
func (w *storm) goes(n int) {
	w.t.Helper()
	late := time.After(5 * time.Minute)
	for range n {
		select {
		case <-w.landed:
		case <-late:
			w.mu.Lock()
			defer w.mu.Unlock()
			for client, err := range w.refused {
				w.t.Fatalf("no append was acknowledged ; one error of %d, for %s: %v", len(w.refused), client, err)
			}
			w.t.Fatal("no append was acknowledged")
		}
	}
}

// calm ends the writers and compares what is stored, as a new process reads it at
// address, with the answers that they got.
func (w *storm) calm(address string) {
	w.t.Helper()
	w.end()
	w.wg.Wait()
	s := open(w.t, address)
	there := map[skein.ClientID]skein.Place{}
	events := 0
	for i := range stormSessions {
		events += w.check(s, stormSession(i), there)
	}
	for client, at := range w.acked {
		if there[client] != at {
			w.t.Errorf("%s was acknowledged at %+v and stands at %+v", client, at, there[client])
		}
	}
	for client, err := range w.refused {
		if at, ok := there[client]; ok {
			w.t.Errorf("%s was refused (%v) and stands at %+v", client, err, at)
		}
	}
	w.fed(s, events)
	w.t.Logf("%d acknowledged, %d refused, %d times unknown", len(w.acked), len(w.refused), w.unknown)
}

// check reads a session: its seqs have no gaps, no client ID occurs twice, and its row
// agrees with its events.
func (w *storm) check(s skein.Store, id skein.SessionID, there map[skein.ClientID]skein.Place) (n int) {
	w.t.Helper()
	for e, err := range s.Events(w.t.Context(), id, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if n++; e.Seq != skein.Seq(n) {
			w.t.Fatalf("%s: event %d has seq %d", id, n, e.Seq)
		}
		if e.ClientID == "" {
			continue
		}
		if at, ok := there[e.ClientID]; ok {
			w.t.Errorf("%s stands at %+v and at %d", e.ClientID, at, e.Seq)
		}
		there[e.ClientID] = skein.Place{Session: id, Seq: e.Seq}
	}
	sess, err := s.Session(w.t.Context(), id)
	if err != nil || int(sess.Last) != n || sess.Messages != n-1 {
		w.t.Errorf("Session(%s) ends at %d with %d messages, %v; there are %d events", id, sess.Last, sess.Messages, err, n)
	}
	return n
}

// fed reads the feed from its beginning: each event comes once, those of a session in
// order.
func (w *storm) fed(s skein.Store, events int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 5*time.Minute)
	defer cancel()
	last := map[skein.SessionID]skein.Seq{}
	n := 0
	for f, err := range skein.FeedOf(s).Feed(ctx, "") {
		if err != nil {
			w.t.Fatal(err)
		}
		if last[f.Session]++; f.Event.Seq != last[f.Session] {
			w.t.Fatalf("feed: event %d of %s comes after %d", f.Event.Seq, f.Session, last[f.Session]-1)
		}
		if n++; n == events {
			return
		}
	}
	w.t.Errorf("the feed has %d events, want %d", n, events)
}

// hardy opens a store that is closed at the end, whatever happened to its server.
func hardy(t *testing.T, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // the server may be gone
	return s
}
