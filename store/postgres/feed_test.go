package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// 16 writers on two stores write to sessions of their own and to a shared one, in
// batches of several sizes, while connections are cut: every reader of either store
// gets every event once, and those of each session in order.
func TestFeedOfRacingWriters(t *testing.T) {
	dsn := pgtest.DSN(t)
	stores := []*Store{openTest(t, dsn), openTest(t, dsn)}
	addText(t, stores[0], "shared")
	const writers, rounds = 16, 12
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	total := 1
	var sum sync.Mutex
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			own := skein.SessionID(fmt.Sprintf("own-%d", w))
			for i := range rounds {
				b := skein.Batch{Session: "shared"}
				if i%2 == 0 {
					b.Session = own
				}
				if i == 0 {
					e := skein.NewEvent(skein.KindCreated, 1, skein.Created{})
					e.ClientID = "created"
					b.Events = append(b.Events, e)
				}
				for n := range 1 + (w+i)%4 {
					e := skein.Say(2, skein.UserSays("x"))
					e.ClientID = skein.ClientID(fmt.Sprintf("%d-%d-%d", w, i, n))
					b.Events = append(b.Events, e)
				}
				for {
					_, err := stores[w%2].Append(ctx, b)
					if err == nil {
						break
					}
					if ctx.Err() != nil {
						t.Error(err)
						return
					}
				}
				sum.Lock()
				total += len(b.Events)
				sum.Unlock()
			}
		})
	}
	all := make(chan struct{})
	type reader struct {
		last map[skein.SessionID]skein.Seq
		n    int
	}
	var reading sync.WaitGroup
	readers := make([]reader, 4)
	for i := range readers {
		r := &readers[i]
		r.last = map[skein.SessionID]skein.Seq{}
		reading.Go(func() {
			stop, cancel := context.WithCancel(ctx)
			defer cancel()
			var at skein.Cursor
			for again := true; again; {
				again = false
				for f, err := range stores[i%2].Feed(stop, at) {
					if err != nil {
						t.Errorf("reader %d: %v", i, err)
						return
					}
					if want := r.last[f.Session] + 1; f.Event.Seq != want {
						t.Errorf("reader %d: event %d of %s, want %d", i, f.Event.Seq, f.Session, want)
						return
					}
					r.last[f.Session], at = f.Event.Seq, f.Cursor
					r.n++
					select {
					case <-all:
						if r.n == total {
							return
						}
					default:
					}
					if again = r.n%50 == 0; again { // take it up again at its cursor
						break
					}
				}
			}
		})
	}
	for range 5 {
		sever(t, stores[0], true)
		sever(t, stores[0], false)
	}
	writing.Wait()
	total++
	close(all)
	addText(t, stores[0], "shared", "the last") // so that each looks once more whether it has all
	reading.Wait()
	for i, r := range readers {
		if r.n != total {
			t.Errorf("reader %d has %d events, want %d", i, r.n, total)
		}
	}
}

// A committed event waits for an append that began earlier and is still running, and no
// longer. A feed from now on neither misses what comes nor waits forever.
func TestFeedWaitsForOlderTransactions(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openTest(t, dsn), openTest(t, dsn)
	addText(t, s, "a")
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- other.write(context.Background(), func(x *tx) error {
			var xid uint64
			_, err := x.Exec(lockJournal)
			if err == nil {
				_, err = x.One(`SELECT pg_current_xact_id()`, nil, &xid)
			}
			close(begun)
			<-end
			return err
		})
	}()
	<-begun
	addText(t, s, "a", "after the other began")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	got := make(chan skein.Seq)
	go func() {
		for f, err := range other.Feed(ctx, "") {
			if err != nil {
				t.Errorf("Feed yields the error %v", err)
				break
			}
			got <- f.Event.Seq
		}
		close(got)
	}()
	if seq := <-got; seq != 1 {
		t.Errorf("Feed yields event %d first, want 1", seq)
	}
	var now skein.Cursor // it does not wait for the transaction, which does not end
	for f, err := range s.Feed(ctx, skein.FeedNow) {
		if err != nil || f.Session != "" {
			t.Errorf("Feed from now on yields %+v, error %v, want only a cursor", f, err)
		}
		now = f.Cursor
		break
	}
	select {
	case seq := <-got:
		t.Errorf("Feed yields event %d while a transaction runs that may come before it", seq)
	default:
	}
	close(end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if seq := <-got; seq != 2 {
		t.Errorf("Feed yields event %d, want 2", seq)
	}
	addText(t, s, "a", "later")
	for f, err := range s.Feed(ctx, now) {
		if err != nil || f.Event.Seq != 3 {
			t.Errorf("Feed from now on yields event %d, error %v, want what was appended later, 3", f.Event.Seq, err)
		}
		break
	}
	cancel()
	for range got { //nolint:revive // until it has ended
	}
}

func TestFeedKnowsItsCursors(t *testing.T) {
	s, other := openTest(t, pgtest.DSN(t)), openTest(t, pgtest.DSN(t))
	addText(t, s, "a", "x")
	addText(t, other, "a", "x")
	var at []skein.Cursor
	for f, err := range s.Feed(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if at = append(at, f.Cursor); len(at) == 2 {
			break
		}
	}
	for _, bad := range []skein.Cursor{at[0] + "x", at[0][1:], "x" + at[0][1:], at[0][:9] + "0" + at[0][9:], at[0][:9] + "-1.0.0", at[0][:9] + "1.1.-1", at[0][:9], at[0] + "-x", at[0] + "-1:2", at[0] + "-9:2:"} {
		for _, err := range s.Feed(t.Context(), bad) {
			if !errors.Is(err, skein.ErrInvalid) {
				t.Errorf("Feed(%q) yields the error %v, want one of an invalid cursor", bad, err)
			}
			break
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for _, err := range other.Feed(done, at[1]) {
		if n++; !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Feed of another database's cursor yields the error %v, want one of an invalid cursor", err)
		}
	}
	if n != 1 {
		t.Errorf("Feed of another database's cursor yields %d values, want an error", n)
	}
}

func TestFeedPagesWithinOneAppend(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	texts := make([]string, 2*wire.PageRows+3)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	addText(t, s, "a", texts...)
	addText(t, s, "b")
	last, n := skein.Cursor(""), 0
	for f, err := range s.Feed(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; f.Session == "b" {
			break
		}
		if f.Event.Seq != skein.Seq(n) || f.Cursor == last {
			t.Fatalf("Feed yields event %d at %q after %d at %q", f.Event.Seq, f.Cursor, n-1, last)
		}
		last = f.Cursor
	}
	if want := len(texts) + 2; n != want {
		t.Errorf("Feed yields %d events, want %d", n, want)
	}
}
