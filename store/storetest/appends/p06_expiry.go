package appends

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// eventually calls f until it returns true.
func eventually(t *harness.Test, what string, f func() bool) {
	t.Helper()
	over := time.After(harness.Late)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%s: it never came to be", what)
		}
	}
}

func expires(t *harness.Test) {
	t.Add("a", fixture.Created())
	l := t.Acquire("a", skein.LeaseRequest{Program: "gone", TTL: 30 * time.Millisecond})
	if l.Expires == 0 || l.Holder.PID != 0 {
		t.Errorf("Acquire with a TTL = %+v, want an end and no process", l)
	}
	var next skein.Lease
	eventually(t, "Acquire after the TTL", func() (ok bool) {
		var err error
		next, err = skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Minute})
		return err == nil
	})
	if next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
	t.Refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("late")}}, skein.ErrFenced)
	_, err := skein.LeasesOf(t.Store).Renew(t.Context(), l, time.Minute)
	t.WantErr("Renew after the TTL", err, skein.ErrFenced)
	t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), next))
	t.Acquire("a", skein.LeaseRequest{TTL: 20 * time.Millisecond})
	eventually(t, "Append without a lease after the TTL", func() bool {
		_, err := skein.Add(t.Context(), t.Store, "a", fixture.User("x"))
		return err == nil
	})
	_, err = skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{TTL: -1})
	t.WantErr("Acquire with a negative TTL", err, skein.ErrInvalid)
}

// expiresInTime waits far longer than the TTL, by its own clock: a busy machine
// can only make that longer. The lease must then be over at the first check.
func expiresInTime(t *harness.Test) {
	for id, ask := range map[skein.SessionID]func(skein.SessionID) error{
		"acquired": func(id skein.SessionID) error {
			_, err := skein.LeasesOf(t.Store).Acquire(t.Context(), id, skein.LeaseRequest{TTL: time.Minute})
			return err
		},
		"appended": func(id skein.SessionID) error {
			_, err := skein.Add(t.Context(), t.Store, id, fixture.User("x"))
			return err
		},
	} {
		t.Add(id, fixture.Created())
		t.Acquire(id, skein.LeaseRequest{TTL: 20 * time.Millisecond})
		<-time.After(time.Second)
		t.NoErr("a write to what was "+string(id)+" when its lease of 20 ms is 1 s old", ask(id))
	}
}

// renewedExpiresInTime is expiresInTime for a lease that was renewed.
func renewedExpiresInTime(t *harness.Test) {
	t.Add("a", fixture.Created())
	l := t.Acquire("a", skein.LeaseRequest{TTL: time.Hour})
	if _, err := skein.LeasesOf(t.Store).Renew(t.Context(), l, 20*time.Millisecond); err != nil {
		t.Fatalf("Renew = %v", err)
	}
	<-time.After(time.Second)
	_, err := skein.Add(t.Context(), t.Store, "a", fixture.User("x"))
	t.NoErr("a write when a lease renewed for 20 ms is 1 s old", err)
}

func forElsewhere(t *harness.Test) {
	t.Add("a", fixture.Created())
	l := t.Acquire("a", skein.LeaseRequest{Program: "skein chat", TTL: time.Hour, Elsewhere: skein.Holder{PID: 4711, Host: "far"}})
	if h := l.Holder; h.PID != 4711 || h.Host != "far" || h.Program != "skein chat" || h.Since == 0 {
		t.Errorf("Acquire for a process elsewhere = %+v, want PID 4711 on far, skein chat", l)
	}
	_, err := skein.Add(t.Context(), t.Store, "a", fixture.User("x"))
	var locked *skein.LockedError
	if !errors.As(err, &locked) || locked.Holder != l.Holder {
		t.Errorf("Append = %v, want a LockedError with %+v", err, l.Holder)
	}
}

func renewed(t *harness.Test) {
	t.Add("a", fixture.Created())
	ttl := 300 * time.Millisecond
	began := time.Now()
	l := t.Acquire("a", skein.LeaseRequest{TTL: ttl})
	long, err := skein.LeasesOf(t.Store).Renew(t.Context(), l, time.Hour)
	for errors.Is(err, skein.ErrFenced) && time.Since(began) >= ttl { // a slow machine was too late
		ttl, began = 4*ttl, time.Now()
		l = t.Acquire("a", skein.LeaseRequest{TTL: ttl, TakeOver: true})
		long, err = skein.LeasesOf(t.Store).Renew(t.Context(), l, time.Hour)
	}
	if err != nil || long.Fence != l.Fence || long.Expires <= l.Expires+1800*fixture.Second {
		t.Fatalf("Renew = %+v, %v, want the same lease, an hour long", long, err)
	}
	over := time.After(ttl + ttl/3)
	<-over
	_, err = skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.WantErr("Acquire after the first TTL", err, skein.ErrLocked)
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("x")}})
}

func oneHolder(t *harness.Test, stores []skein.Store) {
	t.Add("a", fixture.Created())
	for range 3 {
		var got atomic.Int64
		harness.Everyone(16, func(w int) {
			_, err := skein.LeasesOf(stores[w%len(stores)]).Acquire(context.Background(), "a", skein.LeaseRequest{TTL: time.Hour})
			if err == nil {
				got.Add(1)
			} else if !errors.Is(err, skein.ErrLocked) {
				t.Errorf("Acquire = %v", err)
			}
		})
		if got.Load() != 1 {
			t.Fatalf("%d got the lease, want 1", got.Load())
		}
		t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), t.Acquire("a", skein.LeaseRequest{TTL: time.Hour, TakeOver: true})))
	}
}

func fencedAcross(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	l := t.Acquire("a", skein.LeaseRequest{Program: "first"})
	_, err := skein.LeasesOf(other).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.WantErr("Acquire at the other handle", err, skein.ErrLocked)
	_, err = skein.Add(t.Context(), other, "a", fixture.User("x"))
	t.WantErr("Append at the other handle", err, skein.ErrLocked)
	next, err := skein.LeasesOf(other).Acquire(t.Context(), "a", skein.LeaseRequest{TakeOver: true})
	t.NoErr("Acquire with TakeOver at the other handle", err)
	t.Refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("late")}}, skein.ErrFenced)
	_, err = other.Append(t.Context(), skein.Batch{Session: "a", Fence: next.Fence, Events: []skein.Event{fixture.User("x")}})
	t.NoErr("Append with the new lease", err)
	t.NoErr("Release", skein.LeasesOf(other).Release(t.Context(), next))
	t.Add("a", fixture.User("y"))
	harness.WantEnd(t, other, "a", 3)
}

func closedHolder(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	_, err := skein.LeasesOf(other).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.NoErr("Acquire at the other handle", err)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("x")}}, skein.ErrLocked)
	t.NoErr("Close", other.Close())
	t.Add("a", fixture.User("x"))
	t.Acquire("a", skein.LeaseRequest{})
}

// takenMidway has 16 writers take the lease from each other and write. What is
// stored must never go back to an older lease.
func takenMidway(t *harness.Test) {
	t.Add("a", fixture.Created())
	harness.Everyone(16, func(int) {
		for range 5 {
			l, err := skein.LeasesOf(t.Store).Acquire(context.Background(), "a", skein.LeaseRequest{TakeOver: true, TTL: time.Hour})
			if err != nil {
				t.Errorf("Acquire = %v", err)
				return
			}
			for range 3 {
				_, err := t.Store.Append(context.Background(), skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{
					skein.Say(skein.Time(l.Fence), skein.UserSays("x")),
				}})
				if err != nil && !errors.Is(err, skein.ErrFenced) {
					t.Errorf("Append = %v, want ErrFenced or none", err)
				}
			}
		}
	})
	var newest skein.Time
	for _, e := range t.Events("a")[1:] {
		if e.Time < newest {
			t.Errorf("event %d was written under the fence %d after one under %d", e.Seq, e.Time, newest)
		}
		newest = e.Time
	}
}
