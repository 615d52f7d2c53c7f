package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// skewed returns the address for connections whose server's clock is an hour ahead or
// behind, as it seems to a node whose own clock is wrong by that.
func skewed(t *testing.T, dsn, by string) string {
	t.Helper()
	pgtest.Exec(t, dsn, `CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '`+by+`' $$`)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", "public,pg_catalog")
	u.RawQuery = q.Encode()
	return u.String()
}

func TestLeasesGoByTheServersClock(t *testing.T) {
	for _, by := range []string{"1 hour", "-1 hour"} {
		t.Run(by, func(t *testing.T) {
			dsn := pgtest.DSN(t)
			add(t, open(t, dsn), "a", created()) // the tables are made by the right clock
			dsn = skewed(t, dsn, by)
			s, other := open(t, dsn), open(t, dsn)
			l, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			apart := time.Until(l.Expires.Std()).Abs()
			if apart < 50*time.Minute || apart > 70*time.Minute {
				t.Errorf("a lease for a minute ends %s from here, want about an hour: it is not the server's clock", apart)
			}
			if _, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Minute}); !errors.Is(err, skein.ErrLocked) {
				t.Errorf("Acquire of what is held = %v, want one that wraps ErrLocked", err)
			}
			if _, err := s.Renew(t.Context(), l, time.Minute); err != nil {
				t.Errorf("Renew = %v", err)
			}
			if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{said("mine")}}); err != nil {
				t.Errorf("Append with the lease = %v", err)
			}
			if _, err := other.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{said("not mine")}}); !errors.Is(err, skein.ErrLocked) {
				t.Errorf("Append without the lease = %v, want one that wraps ErrLocked", err)
			}
			if err := s.Release(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{}); err != nil {
				t.Errorf("Acquire of what was given back = %v", err)
			}
		})
	}
}

func TestALongReadHoldsNothingUp(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	add(t, s, "a", created())
	const length = 1500 // some pages
	evs := make([]skein.Event, length)
	for i := range evs {
		evs[i] = said("before")
	}
	add(t, s, "a", evs...)
	c, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing was written
	read := 0
	for e, err := range s.Events(t.Context(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if read++; e.Seq != skein.Seq(read) {
			t.Fatalf("event %d comes as %d", e.Seq, read)
		}
		if read%100 != 0 || read > length {
			continue
		}
		add(t, s, "a", said("meanwhile"))
		// The indexer's own transactions end by themselves; one of the read would wait
		// for the caller.
		wait(t, fmt.Sprintf("no transaction is open while the caller looks at event %d", e.Seq), func() bool {
			var open int
			err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`).Scan(&open)
			if err != nil {
				t.Fatal(err)
			}
			return open == 0
		})
	}
	if last := add(t, s, "a", said("after")); int(last) != 1+length+length/100+1 {
		t.Errorf("the session ends at %d, want %d: something that was appended meanwhile is lost", last, 1+length+length/100+1)
	}
	if read < 1+length {
		t.Errorf("%d events were read of %d", read, 1+length)
	}
}
