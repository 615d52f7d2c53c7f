package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
)

// late is when to give up waiting for something: a machine may be slow.
const late = 5 * time.Minute

// eventually calls f until it returns true.
func (t *test) eventually(what string, f func() bool) {
	t.Helper()
	over := time.After(late)
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

func expires(t *test) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{Program: "gone", TTL: 30 * time.Millisecond})
	if l.Expires == 0 || l.Holder.PID != 0 {
		t.Errorf("Acquire with a TTL = %+v, want an end and no process", l)
	}
	var next skein.Lease
	t.eventually("Acquire after the TTL", func() (ok bool) {
		var err error
		next, err = skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Minute})
		return err == nil
	})
	if next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
	t.refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	_, err := skein.LeasesOf(t.s).Renew(t.Context(), l, time.Minute)
	t.wantErr("Renew after the TTL", err, skein.ErrFenced)
	t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), next))
	t.acquire("a", skein.LeaseRequest{TTL: 20 * time.Millisecond})
	t.eventually("Append without a lease after the TTL", func() bool {
		_, err := skein.Add(t.Context(), t.s, "a", user("x"))
		return err == nil
	})
	_, err = skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{TTL: -1})
	t.wantErr("Acquire with a negative TTL", err, skein.ErrInvalid)
}

// expiresInTime waits far longer than the TTL, by its own clock: a busy machine
// can only make that longer. The lease must then be over at the first check.
func expiresInTime(t *test) {
	for id, ask := range map[skein.SessionID]func(skein.SessionID) error{
		"acquired": func(id skein.SessionID) error {
			_, err := skein.LeasesOf(t.s).Acquire(t.Context(), id, skein.LeaseRequest{TTL: time.Minute})
			return err
		},
		"appended": func(id skein.SessionID) error {
			_, err := skein.Add(t.Context(), t.s, id, user("x"))
			return err
		},
	} {
		t.add(id, created())
		t.acquire(id, skein.LeaseRequest{TTL: 20 * time.Millisecond})
		<-time.After(time.Second)
		t.noErr("a write to what was "+string(id)+" when its lease of 20 ms is 1 s old", ask(id))
	}
}

func forElsewhere(t *test) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{Program: "skein chat", TTL: time.Hour, Elsewhere: skein.Holder{PID: 4711, Host: "far"}})
	if h := l.Holder; h.PID != 4711 || h.Host != "far" || h.Program != "skein chat" || h.Since == 0 {
		t.Errorf("Acquire for a process elsewhere = %+v, want PID 4711 on far, skein chat", l)
	}
	_, err := skein.Add(t.Context(), t.s, "a", user("x"))
	var locked *skein.LockedError
	if !errors.As(err, &locked) || locked.Holder != l.Holder {
		t.Errorf("Append = %v, want a LockedError with %+v", err, l.Holder)
	}
}

func renewed(t *test) {
	t.add("a", created())
	ttl := 300 * time.Millisecond
	began := time.Now()
	l := t.acquire("a", skein.LeaseRequest{TTL: ttl})
	long, err := skein.LeasesOf(t.s).Renew(t.Context(), l, time.Hour)
	for errors.Is(err, skein.ErrFenced) && time.Since(began) >= ttl { // a slow machine was too late
		ttl, began = 4*ttl, time.Now()
		l = t.acquire("a", skein.LeaseRequest{TTL: ttl, TakeOver: true})
		long, err = skein.LeasesOf(t.s).Renew(t.Context(), l, time.Hour)
	}
	if err != nil || long.Fence != l.Fence || long.Expires <= l.Expires+1800*second {
		t.Fatalf("Renew = %+v, %v, want the same lease, an hour long", long, err)
	}
	over := time.After(ttl + ttl/3)
	<-over
	_, err = skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire after the first TTL", err, skein.ErrLocked)
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
}

func oneHolder(t *test, stores []skein.Store) {
	t.add("a", created())
	for range 3 {
		var got atomic.Int64
		everyone(16, func(w int) {
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
		t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), t.acquire("a", skein.LeaseRequest{TTL: time.Hour, TakeOver: true})))
	}
}

func fencedAcross(t *test, other skein.Store) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{Program: "first"})
	_, err := skein.LeasesOf(other).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire at the other handle", err, skein.ErrLocked)
	_, err = skein.Add(t.Context(), other, "a", user("x"))
	t.wantErr("Append at the other handle", err, skein.ErrLocked)
	next, err := skein.LeasesOf(other).Acquire(t.Context(), "a", skein.LeaseRequest{TakeOver: true})
	t.noErr("Acquire with TakeOver at the other handle", err)
	t.refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	_, err = other.Append(t.Context(), skein.Batch{Session: "a", Fence: next.Fence, Events: []skein.Event{user("x")}})
	t.noErr("Append with the new lease", err)
	t.noErr("Release", skein.LeasesOf(other).Release(t.Context(), next))
	t.add("a", user("y"))
	wantEnd(t, other, "a", 3)
}

func closedHolder(t *test, other skein.Store) {
	t.add("a", created())
	_, err := skein.LeasesOf(other).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.noErr("Acquire at the other handle", err)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{user("x")}}, skein.ErrLocked)
	t.noErr("Close", other.Close())
	t.add("a", user("x"))
	t.acquire("a", skein.LeaseRequest{})
}

// takenMidway has 16 writers take the lease from each other and write. What is
// stored must never go back to an older lease.
func takenMidway(t *test) {
	t.add("a", created())
	everyone(16, func(int) {
		for range 5 {
			l, err := skein.LeasesOf(t.s).Acquire(context.Background(), "a", skein.LeaseRequest{TakeOver: true, TTL: time.Hour})
			if err != nil {
				t.Errorf("Acquire = %v", err)
				return
			}
			for range 3 {
				_, err := t.s.Append(context.Background(), skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{
					skein.Say(skein.Time(l.Fence), skein.UserSays("x")),
				}})
				if err != nil && !errors.Is(err, skein.ErrFenced) {
					t.Errorf("Append = %v, want ErrFenced or none", err)
				}
			}
		}
	})
	var newest skein.Time
	for _, e := range t.events("a")[1:] {
		if e.Time < newest {
			t.Errorf("event %d was written under the fence %d after one under %d", e.Seq, e.Time, newest)
		}
		newest = e.Time
	}
}
