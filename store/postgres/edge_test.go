package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/inspect"
)

// begun returns a connection in a transaction that has done something.
func begun(t *testing.T, dsn, sql string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), pgtest.As(t, dsn, "skein_owner"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) }) //nolint:errcheck // nothing is lost with it
	if _, err := c.Exec(t.Context(), `BEGIN; `+sql); err != nil {
		t.Fatal(err)
	}
	return c
}

// A transaction that has written but cannot append holds up neither the feed nor the
// index: one in another database, one in this database, or an indexing step.
func TestStrangersHoldUpNothing(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a")
	begun(t, pgtest.DSN(t), `CREATE TEMP TABLE x (); SELECT pg_current_xact_id()`)
	begun(t, dsn, `CREATE TEMP TABLE x (); SELECT count(*) FROM journal; SAVEPOINT a; CREATE TEMP TABLE y ()`)
	begun(t, dsn, `UPDATE found SET odd = odd; SELECT pg_current_xact_id(), (SELECT count(*) FROM journal)`)
	addText(t, s, "a", "while they run")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	n := 0
	for f, err := range s.Feed(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; f.Event.Seq == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("Feed yields %d events while strangers write, want 2", n)
	}
	until(t, "the index has all", func() bool { return s.lag(t) == inspect.Lag{} })
}

// Each append takes the lock that the edge looks for before it has a transaction ID.
func TestAppendsLockTheJournalFirst(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a", "first")
	say := func(client string) skein.Event {
		e := skein.Say(5, skein.UserSays("x"))
		e.ClientID = skein.ClientID(client)
		return e
	}
	created := skein.NewEvent(skein.KindCreated, 4, skein.Created{})
	fork := skein.NewEvent(skein.KindCreated, 4, skein.Created{Parent: &skein.Parent{Session: "a", Seq: 1, Why: skein.Fork}})
	file := skein.SourceFile{Format: "f", Path: "/x", Session: "i"}
	project := "/p"
	for name, batches := range map[string][]skein.Batch{
		"usual":       {{Session: "a", Events: []skein.Event{say("1")}}},
		"new session": {{Session: "b", Events: []skein.Event{created, say("2")}}},
		"fork":        {{Session: "c", Events: []skein.Event{fork, say("3")}}},
		"several":     {{Session: "a", Events: []skein.Event{say("4")}}, {Session: "d", Events: []skein.Event{created}}},
		"import":      {{Session: "i", Events: []skein.Event{created, say("5")}, Import: &skein.Import{File: file, Records: []skein.Record{{N: 0, Raw: []byte("x")}}}}},
		"moved":       {{Session: "a", Events: []skein.Event{skein.NewEvent(skein.KindChanged, 6, skein.Changed{Project: &project})}}},
		"amended":     {{Session: "a", Events: []skein.Event{skein.NewEvent(skein.KindAmended, 6, skein.Amended{Seq: 2, Withdrawn: true})}}},
	} {
		keeper := begun(t, dsn, `LOCK TABLE journal IN SHARE MODE`)
		done := make(chan error, 1)
		go func() {
			_, err := s.Append(context.Background(), batches...)
			done <- err
		}()
		var waits, numbered int
		until(t, name+" waits for the lock", func() bool {
			err := keeper.QueryRow(t.Context(), `SELECT count(*), count(x.transactionid) FROM pg_locks l LEFT JOIN pg_locks x ON x.virtualtransaction = l.virtualtransaction AND x.locktype = 'transactionid' AND x.granted
				WHERE l.relation = 'journal'::regclass AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND NOT l.granted AND l.mode = 'RowExclusiveLock'`).Scan(&waits, &numbered)
			if err != nil {
				t.Fatal(err)
			}
			return waits > 0
		})
		if numbered != 0 {
			t.Errorf("%s: the append has a number before it has locked the journal", name)
		}
		if _, err := keeper.Exec(t.Context(), `COMMIT`); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// While other programs keep writing, a feed of racing writers misses nothing.
func TestFeedAmongStrangers(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := openTest(t, dsn), openTest(t, dsn)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	stop := make(chan struct{})
	var noise []chan error
	for _, at := range []string{dsn, pgtest.DSN(t)} {
		c := begun(t, at, `CREATE TEMP TABLE noise (i integer); COMMIT`)
		ended := make(chan error, 1)
		noise = append(noise, ended)
		go func() {
			for {
				select {
				case <-stop:
					ended <- nil
					return
				default:
				}
				if _, err := c.Exec(ctx, `BEGIN; INSERT INTO noise VALUES (1); SAVEPOINT a; INSERT INTO noise VALUES (2); COMMIT`); err != nil {
					ended <- err
					return
				}
			}
		}()
	}
	const writers, each = 8, 60
	for w := range writers {
		go func() {
			for i := range each {
				evs := []skein.Event{skein.Say(2, skein.UserSays("x"))}
				if i%20 == 0 { // a session of its own, by the slow road
					evs = append([]skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}, evs...)
				}
				if _, err := skein.Add(ctx, s, skein.SessionID(fmt.Sprint(w, "-", i/20)), evs...); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	want := writers * (each + each/20)
	last, n := map[skein.SessionID]skein.Seq{}, 0
	for f, err := range other.Feed(ctx, "") {
		if err != nil {
			t.Fatal(err)
		}
		if f.Event.Seq != last[f.Session]+1 {
			t.Errorf("event %d of %s after %d", f.Event.Seq, f.Session, last[f.Session])
		}
		last[f.Session] = f.Event.Seq
		if n++; n == want {
			break
		}
	}
	if n != want {
		t.Errorf("Feed yields %d events, want %d", n, want)
	}
	close(stop)
	for _, ended := range noise {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
