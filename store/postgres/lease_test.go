package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// wait waits until a condition holds.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	over := time.After(5 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%s: it does not come to be", what)
		}
	}
}

func TestAProcessKeepsItsLeaseUntilItGivesItBack(t *testing.T) {
	dsn := pgtest.DSN(t)
	s, other := open(t, dsn), open(t, dsn)
	add(t, s, "a", created())
	l, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{Program: "test"})
	if err != nil || l.Expires != 0 {
		t.Fatalf("Acquire(a) = %+v, %v, want one that does not expire", l, err)
	}
	c, err := pgx.Connect(t.Context(), pgtest.As(t, dsn, "skein_all"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context()) //nolint:errcheck // nothing is lost with it
	var first, now time.Time
	end := func() time.Time {
		if err := c.QueryRow(t.Context(), `SELECT expires FROM heads WHERE id = 'a'`).Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now
	}
	first = end()
	wait(t, "the lease is renewed", func() bool { return end().After(first) })

	// As if the process had been stopped for a while, and the lease was not taken.
	pgtest.Exec(t, pgtest.As(t, dsn, "skein_all"), `UPDATE heads SET expires = now() - interval '1 hour' WHERE id = 'a'`)
	wait(t, "the lease is taken up again", func() bool { return time.Until(end()) > 0 })
	if _, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{}); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Acquire(a) of another = %v, want an error that wraps %v", err, skein.ErrLocked)
	}

	if _, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{TakeOver: true}); err != nil {
		t.Errorf("Acquire(a) that takes over = %v", err)
	}
	_, err = s.Append(t.Context(), skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{said("late")}})
	if !errors.Is(err, skein.ErrFenced) {
		t.Errorf("Append with the older lease = %v, want an error that wraps %v", err, skein.ErrFenced)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{}); err != nil {
		t.Errorf("Acquire(a) after the store of who held it was closed = %v", err)
	}
}
