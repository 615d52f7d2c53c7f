package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/stream"
)

// sever ends the connections to a store's database, those that listen or the
// others, and returns how many.
func sever(t *testing.T, s *Store, listening bool) (n int) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), pgtest.Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	err = c.QueryRow(context.Background(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = $1 AND $2 = (application_name LIKE '%(listens)')`,
		s.pool.Config().ConnConfig.Database, listening).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// listening reports whether a store's database has one connection that listens,
// and does nothing else.
func listening(t *testing.T, s *Store) (is bool) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), pgtest.Admin(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background()) //nolint:errcheck // nothing is lost with it
	err = c.QueryRow(context.Background(), `SELECT count(*) = 1 FROM pg_stat_activity
		WHERE datname = $1 AND application_name LIKE '%(listens)' AND state = 'idle' AND query LIKE 'LISTEN%'`,
		s.pool.Config().ConnConfig.Database).Scan(&is)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// follow sends the seqs of a watch, and its error.
func follow(ctx context.Context, s skein.Store, id skein.SessionID, to skein.Seq) (last skein.Seq, err error) {
	for e, err := range s.Watch(ctx, id, 0) {
		if err != nil {
			return last, err
		}
		if e.Seq != last+1 {
			return last, fmt.Errorf("event %d comes after %d", e.Seq, last)
		}
		if last = e.Seq; last == to {
			break
		}
	}
	return last, nil
}

// Watchers lose and repeat nothing when connections are cut: those that read and the
// one that listens.
func TestWatchersOutliveTheirConnections(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openTest(t, dsn), openTest(t, dsn)
	const watchers, events = 8, 120
	addText(t, s, "a")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	done := make(chan error, watchers)
	for range watchers {
		go func() {
			last, err := follow(ctx, other, "a", events+1)
			if err == nil && last != events+1 {
				err = fmt.Errorf("Watch ended after event %d", last)
			}
			done <- err
		}()
	}
	cuts := 0
	for i := range events {
		e := skein.Say(2, skein.UserSays("x"))
		e.ClientID = skein.ClientID(fmt.Sprint(i))
		for {
			_, err := skein.Add(ctx, s, "a", e)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
		if i%10 == 9 {
			cuts += sever(t, s, i%20 == 9)
		}
	}
	for range watchers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if cuts == 0 {
		t.Error("no connection was cut: the test tests nothing")
	}
}

// The connection that listens comes back after it was cut, and hears at once.
func TestTheListenerComesBack(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openTest(t, dsn), openTest(t, dsn)
	addText(t, s, "a")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := follow(ctx, other, "a", 3)
		done <- err
	}()
	until(t, "the listener was cut", func() bool { return sever(t, other, true) == 1 })
	addText(t, s, "a", "x")
	until(t, "there is a listener again", func() bool {
		return s.number(t, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%(listens)'`) == 1
	})
	addText(t, s, "a", "y")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Watchers see what a process stored that died before it could notify them.
func TestWatchersSeeWhatNobodyToldThemOf(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openTest(t, dsn), openTest(t, dsn)
	s.notifier = &notifier{core: s.core, wake: make(chan struct{}, 1), done: s.notifier.done, ids: map[skein.SessionID]bool{}} // it never runs
	addText(t, s, "a")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	seen, done := make(chan skein.Seq, 10), make(chan error, 1)
	go func() {
		for e, err := range other.Watch(ctx, "a", 0) {
			if err != nil {
				done <- err
				return
			}
			if seen <- e.Seq; e.Seq == 3 {
				done <- nil
				return
			}
		}
		done <- ctx.Err()
	}()
	select {
	case first := <-seen:
		if first != 1 {
			t.Errorf("Watch yields event %d first, want 1", first)
		}
	case err := <-done:
		t.Fatalf("Watch ended before the first event: %v", err)
	}
	until(t, "it listens", func() bool { return listening(t, other) })
	addText(t, s, "a", "untold", "too")
	if err := <-done; err != nil {
		t.Errorf("Watch of what was not told of: %v", err)
	}
}

func TestMessagesNameSessionsInShortPieces(t *testing.T) {
	n := notifier{node: "me", wake: make(chan struct{}, 1), ids: map[skein.SessionID]bool{}}
	if got := n.messages(); len(got) != 0 {
		t.Errorf("messages() = %q, want none", got)
	}
	w := stream.NewWakers(nil)
	l := listener{core: &core{echo: echo{wakers: w}}, node: "you"}
	var ids []skein.SessionID
	heard := map[skein.SessionID]<-chan struct{}{}
	for i := range 300 {
		id := skein.SessionID(fmt.Sprintf("session \"%d\" \x00 %0100d", i, i))
		ids = append(ids, id)
		heard[id] = w.Wait(id)
	}
	stranger := w.Wait("another")
	n.add(ids)
	for _, m := range n.messages() {
		if len(m) >= 8000 {
			t.Errorf("a message has %d bytes, want fewer than 8000", len(m))
		}
		l.receive(m)
	}
	for id, c := range heard {
		if !closed(c) {
			t.Fatalf("session %q was not woken", id)
		}
	}
	if closed(stranger) {
		t.Error("a session was woken that nobody named")
	}
	for i := range notifyMost + 1 {
		n.add([]skein.SessionID{skein.SessionID(fmt.Sprint(i))})
	}
	all := n.messages()
	if want := []string{`["me"]`}; !slices.Equal(all, want) {
		t.Errorf("messages() of very many = %q, want %q", all, want)
	}
	if l.receive(all[0]); !closed(stranger) {
		t.Error("a session was not woken when all were named")
	}
	l.receive("nonsense")
	l.receive("[]")
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A standby sends no notifications: the listener looks at its journal, also after it has
// taken over.
func TestWatchersOfAStandbySeeWhatIsStored(t *testing.T) {
	first := pgtest.New(t, pgtest.Options{})
	dsn := first.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a")
	second := first.Standby(t, pgtest.Options{})
	there := strings.Replace(dsn, first.Address(), second.Address(), 1)
	r := openTest(t, there)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	seen, done := make(chan skein.Seq), make(chan error, 1)
	go func() {
		for e, err := range r.Watch(ctx, "a", 0) {
			if err != nil {
				done <- err
				return
			}
			seen <- e.Seq
		}
		done <- ctx.Err()
	}()
	sees := func(want skein.Seq) {
		t.Helper()
		select {
		case got := <-seen:
			if got != want {
				t.Fatalf("Watch on the standby yields event %d, want %d", got, want)
			}
		case err := <-done:
			t.Fatalf("Watch on the standby = %v before event %d", err, want)
		}
	}
	sees(1)
	addText(t, s, "a", "x")
	sees(2)
	addText(t, s, "a", "y")
	sees(3)
	second.Promote(t)
	other := openTest(t, there)
	addText(t, other, "a", "z")
	sees(4)
}
