package postgres_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

func TestAFullDiskIsSaidAndOutlived(t *testing.T) {
	c := pgtest.New(t, pgtest.Options{Size: 160 << 20, Settings: []string{"max_wal_size = 48MB", "min_wal_size = 48MB"}})
	address := c.DSN(t)
	s := hardy(t, address)
	add(t, s, "a", created())
	dice := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 256<<10)
	last := skein.Seq(1)
	var full error
	for i := 0; full == nil && i < 2000; i++ {
		dice.Read(noise)
		var err error
		if last, err = step(s, last, said(hex.EncodeToString(noise))); err != nil {
			full = err
		}
	}
	if !errors.Is(full, skein.ErrFull) {
		t.Fatalf("Append to a full disk = %v, want one that wraps ErrFull", full)
	}
	c.Enlarge(t, 400<<20)
	if next := add(t, s, "a", said("there is room")); next != last+1 {
		t.Errorf("after the disk had room again the event stands at %d, want %d", next, last+1)
	}
	n := skein.Seq(0)
	wait(t, "all can be read", func() bool { // a server that ran out of room may start again in between
		for e, err := range s.Events(t.Context(), "a", n) {
			if errors.Is(err, skein.ErrAway) {
				return false
			}
			if n++; err != nil || e.Seq != n {
				t.Fatalf("event %d = %d, %v", n, e.Seq, err)
			}
		}
		return true
	})
	if n != last+1 {
		t.Errorf("%d events are there, %d were acknowledged", n, last+1)
	}
}

// step appends e to session a and returns the session's last seq, which is unchanged if
// the append fails.
func step(s skein.Store, last skein.Seq, e skein.Event) (skein.Seq, error) {
	next, err := skein.Add(context.Background(), s, "a", e)
	if err != nil {
		return last, err
	}
	return next, nil
}

func TestAReadOnlyServerSaysSoAndIsRead(t *testing.T) {
	c := pgtest.New(t, pgtest.Options{})
	address := c.DSN(t)
	s := hardy(t, address)
	add(t, s, "a", created(), said("before"))
	for _, dsn := range []string{
		strings.Replace(address, c.Address(), c.Standby(t, pgtest.Options{}).Address(), 1),
		address + "&default_transaction_read_only=on",
	} {
		r := hardy(t, dsn)
		if _, err := r.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{said("after")}}); !errors.Is(err, skein.ErrReadOnly) {
			t.Errorf("Append on %s = %v, want one that wraps ErrReadOnly", dsn, err)
		}
		if _, err := r.Acquire(t.Context(), "a", skein.LeaseRequest{}); !errors.Is(err, skein.ErrReadOnly) {
			t.Errorf("Acquire = %v, want one that wraps ErrReadOnly", err)
		}
		if got, err := r.Newest(t.Context(), "a", 5, 0); err != nil || len(got) != 1 {
			t.Errorf("Newest = %d messages, %v, want 1", len(got), err)
		}
		if got, err := r.Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{"before"}}}}); err != nil || len(got.Hits) != 1 {
			t.Errorf("Search = %d hits, %v, want 1", len(got.Hits), err)
		}
	}
}

func TestOneConnectionServesManyWithoutWaitingForEver(t *testing.T) {
	address := onePool(t, pgtest.DSN(t))
	s := open(t, address)
	const writers, each = 16, 10
	var wg sync.WaitGroup
	for i := range writers {
		id := skein.SessionID(fmt.Sprint("s", i))
		wg.Go(func() {
			if _, err := skein.Add(t.Context(), s, id, created()); err != nil {
				t.Error(err)
			}
			for range each {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				_, _ = skein.Add(ctx, s, id, said("in a hurry")) // waiting too long does no harm
				cancel()
				if _, err := skein.Add(t.Context(), s, id, said("patient")); err != nil {
					t.Error(err)
				}
				for _, err := range s.Events(t.Context(), id, 0) {
					if err != nil {
						t.Error(err)
						break
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range writers {
		id, patient := skein.SessionID(fmt.Sprint("s", i)), 0
		for e, err := range s.Events(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(e.Payload), "patient") {
				patient++
			}
		}
		if patient != each {
			t.Errorf("%s has %d of the %d that were acknowledged", id, patient, each)
		}
	}
}

// The pools of all programs together may be larger than the server's limit.
func TestAServerWithoutRoomForMoreConnectionsIsWaitedFor(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	pgtest.Exec(t, pgtest.Admin(t), `ALTER DATABASE `+databaseOf(t, dsn)+` CONNECTION LIMIT 2`)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			id := skein.SessionID(fmt.Sprint("s", i))
			e := created()
			for want := range skein.Seq(10) {
				if _, err := skein.Add(context.Background(), s, id, e); err != nil {
					t.Errorf("Append of event %d to %s = %v", want+1, id, err)
					return
				}
				if x, err := s.Session(context.Background(), id); err != nil || x.Last != want+1 {
					t.Errorf("Session(%s) = %d, %v, want %d", id, x.Last, err, want+1)
				}
				e = said("x")
			}
		})
	}
	wg.Wait()
}
