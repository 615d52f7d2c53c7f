package postgres

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// narrow is a store that runs one append transaction at a time.
type narrow struct {
	*Store
	held []*pgxpool.Conn
}

func openNarrow(t *testing.T, dsn string) *narrow {
	return &narrow{Store: openTest(t, dsn+"&pool_max_conns=3")}
}

// hold takes all connections.
func (n *narrow) hold(t *testing.T) {
	t.Helper()
	for range 3 {
		c, err := n.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n.held = append(n.held, c)
	}
}

// release gives them back.
func (n *narrow) release() {
	for _, c := range n.held {
		c.Release()
	}
	n.held = nil
}

// say starts an append to a session, waits until it leads or is the nth that waits, and
// returns a channel for the outcome.
func (n *narrow) say(ctx context.Context, t *testing.T, v skein.Store, id skein.SessionID, nth int, m skein.Message) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		e := skein.Say(3, m)
		e.ClientID = skein.ClientID("of " + string(id))
		_, err := skein.Add(ctx, v, id, e)
		ended <- err
	}()
	until(t, string(id)+" is in line", func() bool {
		n.lanes.mu.Lock()
		defer n.lanes.mu.Unlock()
		return n.lanes.free == 0 && len(n.lanes.waiting) == nth
	})
	return ended
}

// Appends of several users and sessions that wait for a connection share one
// transaction, and each has an answer of its own.
func TestAppendsThatWaitShareATransaction(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openNarrow(t, dsn), openTest(t, dsn)
	ann, bob := s.As("ann"), s.As("bob")
	for id, v := range map[skein.SessionID]skein.Store{"a": ann, "b": bob, "c": ann, "stale": bob, "quits": ann} {
		addText(t, v, id)
	}
	addText(t, other.As("bob"), "stale", "of another process")
	hello := skein.UserSays("hello")
	s.hold(t)
	ctx, cancel := context.WithCancel(t.Context())
	answers := map[skein.SessionID]<-chan error{}
	answers["a"] = s.say(t.Context(), t, ann, "a", 0, hello)
	quits := s.say(ctx, t, ann, "quits", 1, hello)
	answers["b"] = s.say(t.Context(), t, bob, "b", 2, hello)
	answers["stale"] = s.say(t.Context(), t, bob, "stale", 3, hello)
	answers["c"] = s.say(t.Context(), t, ann, "c", 4, hello)
	cancel()
	if err := <-quits; !errors.Is(err, context.Canceled) {
		t.Errorf("an append whose caller gives up while it waits = %v, want context.Canceled", err)
	}
	s.release()
	for id, ended := range answers {
		if err := <-ended; err != nil {
			t.Errorf("append to %s = %v", id, err)
		}
	}
	const transactions = `SELECT count(DISTINCT j.xid) FROM journal j JOIN heads h ON h.n = j.n WHERE h.id = ANY($1) AND j.upto = 2`
	if n := s.number(t, transactions, []string{"a", "b", "c"}); n != 1 {
		t.Errorf("three appends that waited are %d transactions, want 1", n)
	}
	for id, want := range map[skein.SessionID]skein.Seq{"a": 2, "b": 2, "c": 2, "stale": 3, "quits": 1} {
		if x, err := s.Session(t.Context(), id); err != nil || x.Last != want {
			t.Errorf("session %s ends at %d, %v, want %d", id, x.Last, err, want)
		}
	}
	const whose = `SELECT count(*) FROM events e JOIN heads h ON h.n = e.n WHERE e.user_id <> h.user_id OR h.id IN ('b', 'stale') <> (e.user_id = 'bob')`
	if n := s.number(t, whose); n != 0 {
		t.Errorf("%d events are another user's than their sessions", n)
	}
}

// A session that is locked by another transaction keeps only its own appends waiting.
func TestALockedSessionHoldsUpNoOther(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openNarrow(t, dsn)
	for _, id := range []skein.SessionID{"a", "locked", "c"} {
		addText(t, s, id)
	}
	keeper := begun(t, dsn, `SELECT FROM heads WHERE id = 'locked' FOR UPDATE`)
	s.hold(t)
	a := s.say(t.Context(), t, s, "a", 0, skein.UserSays("hello"))
	locked := s.say(t.Context(), t, s, "locked", 1, skein.UserSays("hello"))
	c := s.say(t.Context(), t, s, "c", 2, skein.UserSays("hello"))
	s.release()
	for id, ended := range map[string]<-chan error{"a": a, "c": c} {
		if err := <-ended; err != nil {
			t.Errorf("append to %s beside a locked session = %v", id, err)
		}
	}
	select {
	case err := <-locked:
		t.Errorf("append to the locked session = %v, before it was free", err)
	default:
	}
	if _, err := keeper.Exec(t.Context(), `COMMIT`); err != nil {
		t.Fatal(err)
	}
	if err := <-locked; err != nil {
		t.Errorf("append to the locked session, when it is free = %v", err)
	}
}

// A request that two sessions report at once is counted once, although neither sees the
// other's report.
func TestARequestInTwoSessionsOfOneTransaction(t *testing.T) {
	s := openNarrow(t, pgtest.DSN(t))
	addText(t, s, "a")
	addText(t, s, "b")
	m := skein.Message{Role: skein.RoleAssistant, Request: "r", Model: "m", Usage: &skein.Usage{Input: 3}, Parts: []skein.Part{skein.TextPart("yes")}}
	s.hold(t)
	answers := []<-chan error{s.say(t.Context(), t, s, "a", 0, m), s.say(t.Context(), t, s, "b", 1, m)}
	s.release()
	for _, ended := range answers {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	if n := s.number(t, `SELECT sum(input)::bigint FROM usage`); n != 3 {
		t.Errorf("one request in two sessions counts %d tokens, want its 3", n)
	}
}
