package storetest

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
)

func leases() []check {
	return append([]check{
		{name: "which kinds need the number", run: fencedKinds},
		{name: "a number that is not the newest is refused", run: staleFence},
		{name: "it says who holds it", run: whoHolds},
		{name: "before the session has begun", run: leaseFirst},
		{name: "taking over ends the other's turn", run: takeOver},
		{name: "given back, anybody may write", run: released},
		{name: "one of a session that was deleted and begun anew", run: reborn},
		{name: "one with a TTL ends by itself", run: expires},
		{name: "one with a TTL can be renewed", run: renewed},
		{name: "one of 16 gets it", run: func(t *test) { oneHolder(t, []skein.Store{t.s}) }},
		{name: "one of 16 at two handles gets it", two: func(t *test, other skein.Store) { oneHolder(t, []skein.Store{t.s, other}) }},
		{name: "another handle is fenced", two: fencedAcross},
		{name: "closing the handle gives it back", two: closedHolder},
		{name: "a writer that was taken over in the middle, 16 writers", run: takenMidway},
	}, leaseProcesses()...)
}

func (t *test) acquire(id skein.SessionID, r skein.LeaseRequest) skein.Lease {
	t.Helper()
	l, err := t.s.Acquire(t.Context(), id, r)
	if err != nil || l.Session != id || l.Fence < 1 {
		t.Fatalf("Acquire(%s, %+v) = %+v, %v", id, r, l, err)
	}
	return l
}

func isFenced(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

func fencedKinds(t *test) {
	last := t.add("a", created(), user("x"), user("y"), user("z"), user("w"))
	l := t.acquire("a", skein.LeaseRequest{Program: "test"})
	for _, e := range everything()[1:] {
		b := skein.Batch{Session: "a", Events: []skein.Event{e}}
		if isFenced(e.Kind) {
			t.refused(b, skein.ErrLocked)
			b.Events = append([]skein.Event{noted("first")}, e)
			t.refused(b, skein.ErrLocked)
			b.Fence = l.Fence
		}
		last += skein.Seq(len(b.Events))
		if r := t.append(b); r.Last != last {
			t.Errorf("Append(%s) = %+v, want the end %d", show(b), r, last)
		}
	}
}

func staleFence(t *test) {
	t.add("a", created())
	for _, e := range []skein.Event{user("x"), titled("x")} {
		t.refused(skein.Batch{Session: "a", Fence: 1, Events: []skein.Event{e}}, skein.ErrFenced)
	}
	l := t.acquire("a", skein.LeaseRequest{})
	for _, f := range []skein.Fence{l.Fence - 1, l.Fence + 1, 1 << 40} {
		if f == 0 {
			continue
		}
		for _, e := range []skein.Event{user("x"), titled("x")} {
			t.refused(skein.Batch{Session: "a", Fence: f, Events: []skein.Event{e}}, skein.ErrFenced)
		}
	}
	t.refused(skein.Batch{Session: "a", Fence: -1, Events: []skein.Event{user("x")}}, skein.ErrInvalid)
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
	_, err := t.s.Append(t.Context(),
		skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("unstored")}},
		skein.Batch{Session: "b", Fence: 7, Events: []skein.Event{created()}})
	t.wantErr("Append of two batches, one fenced", err, skein.ErrFenced)
	t.wantEnd("a", 2)
}

func whoHolds(t *test) {
	t.add("a", created(), user("x"))
	if by := t.session("a").LockedBy; by != "" {
		t.Errorf("LockedBy is %q before there was a lease", by)
	}
	l := t.acquire("a", skein.LeaseRequest{Program: "skein chat"})
	if l.Holder.PID != os.Getpid() || l.Holder.Program != "skein chat" || l.Holder.Since == 0 || l.Expires != 0 {
		t.Errorf("Acquire = %+v, want this process, skein chat, a time, and no end", l)
	}
	if by := t.session("a").LockedBy; !strings.Contains(by, "skein chat") {
		t.Errorf("LockedBy is %q, want the program in it", by)
	}
	equal(t, "LockedBy in Sessions", all(t, t.s.Sessions(t.Context(), skein.Filter{}))[0].LockedBy, t.session("a").LockedBy)
	for _, r := range []skein.LeaseRequest{{Program: "other"}, {Program: "skein chat"}, {TTL: time.Minute}} {
		_, err := t.s.Acquire(t.Context(), "a", r)
		var locked *skein.LockedError
		if !errors.As(err, &locked) || locked.Session != "a" || locked.Holder != l.Holder {
			t.Errorf("second Acquire(%+v) = %v, want a LockedError with %+v", r, err, l.Holder)
		}
	}
	_, err := t.s.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{user("x")}})
	var locked *skein.LockedError
	if !errors.As(err, &locked) || locked.Holder != l.Holder {
		t.Errorf("Append = %v, want a LockedError with %+v", err, l.Holder)
	}
	t.noErr("Release", t.s.Release(t.Context(), l))
	if by := t.session("a").LockedBy; by != "" {
		t.Errorf("LockedBy is %q after the lease was given back", by)
	}
}

func leaseFirst(t *test) {
	l := t.acquire("a", skein.LeaseRequest{})
	t.wantEnd("a", 0)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{created(), user("x")}}, skein.ErrLocked)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created()}}) // created needs no number
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
	t.wantEnd("a", 2)
}

func takeOver(t *test) {
	t.add("a", created())
	old := t.acquire("a", skein.LeaseRequest{Program: "old"})
	l := t.acquire("a", skein.LeaseRequest{Program: "new", TakeOver: true})
	if l.Fence <= old.Fence {
		t.Errorf("the fence went from %d to %d", old.Fence, l.Fence)
	}
	for _, e := range []skein.Event{user("late"), titled("late")} {
		t.refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{e}}, skein.ErrFenced)
	}
	t.noErr("Release of a lease that was taken over", t.s.Release(t.Context(), old))
	_, err := t.s.Renew(t.Context(), old, time.Minute)
	t.wantErr("Renew of a lease that was taken over", err, skein.ErrFenced)
	_, err = t.s.Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire after the old one was given back", err, skein.ErrLocked)
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
	t.wantEnd("a", 2)
}

func released(t *test) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{})
	for range 2 {
		t.noErr("Release", t.s.Release(t.Context(), l))
	}
	t.add("a", user("without"))
	_, err := t.s.Renew(t.Context(), l, time.Minute)
	t.wantErr("Renew of a lease that was given back", err, skein.ErrFenced)
	next := t.acquire("a", skein.LeaseRequest{})
	if next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
	t.refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	t.noErr("Release", t.s.Release(t.Context(), skein.Lease{Session: "nobody", Fence: 3}))
}

// reborn deletes a session whose lease somebody still believes to hold.
func reborn(t *test) {
	t.add("a", created())
	old := t.acquire("a", skein.LeaseRequest{})
	t.noErr("Release", t.s.Release(t.Context(), old))
	t.delete("a")
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created()}, Again: true})
	t.refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	l := t.acquire("a", skein.LeaseRequest{})
	if l.Fence <= old.Fence {
		t.Errorf("the fence went from %d to %d", old.Fence, l.Fence)
	}
	t.refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
}

// eventually tries f until it holds.
func (t *test) eventually(what string, f func() bool) {
	t.Helper()
	over := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !f() {
		select {
		case <-tick.C:
		case <-over:
			t.Fatalf("%s: not in 20 seconds", what)
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
		next, err = t.s.Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Minute})
		return err == nil
	})
	if next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
	t.refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	_, err := t.s.Renew(t.Context(), l, time.Minute)
	t.wantErr("Renew after the TTL", err, skein.ErrFenced)
	t.noErr("Release", t.s.Release(t.Context(), next))
	t.acquire("a", skein.LeaseRequest{TTL: 20 * time.Millisecond})
	t.eventually("Append without a lease after the TTL", func() bool {
		_, err := skein.Add(t.Context(), t.s, "a", user("x"))
		return err == nil
	})
	_, err = t.s.Acquire(t.Context(), "a", skein.LeaseRequest{TTL: -1})
	t.wantErr("Acquire with a negative TTL", err, skein.ErrInvalid)
}

func renewed(t *test) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{TTL: 300 * time.Millisecond})
	long, err := t.s.Renew(t.Context(), l, time.Hour)
	if err != nil || long.Fence != l.Fence || long.Expires <= l.Expires+1800*second {
		t.Fatalf("Renew = %+v, %v, want the same lease, an hour long", long, err)
	}
	over := time.After(400 * time.Millisecond)
	<-over
	_, err = t.s.Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire after the first TTL", err, skein.ErrLocked)
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
}

func oneHolder(t *test, stores []skein.Store) {
	t.add("a", created())
	for range 3 {
		var got atomic.Int64
		everyone(16, func(w int) {
			_, err := stores[w%len(stores)].Acquire(context.Background(), "a", skein.LeaseRequest{TTL: time.Hour})
			if err == nil {
				got.Add(1)
			} else if !errors.Is(err, skein.ErrLocked) {
				t.Errorf("Acquire = %v", err)
			}
		})
		if got.Load() != 1 {
			t.Fatalf("%d got the lease, want 1", got.Load())
		}
		t.noErr("Release", t.s.Release(t.Context(), t.acquire("a", skein.LeaseRequest{TTL: time.Hour, TakeOver: true})))
	}
}

func fencedAcross(t *test, other skein.Store) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{Program: "first"})
	_, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire at the other handle", err, skein.ErrLocked)
	_, err = skein.Add(t.Context(), other, "a", user("x"))
	t.wantErr("Append at the other handle", err, skein.ErrLocked)
	next, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{TakeOver: true})
	t.noErr("Acquire with TakeOver at the other handle", err)
	t.refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	_, err = other.Append(t.Context(), skein.Batch{Session: "a", Fence: next.Fence, Events: []skein.Event{user("x")}})
	t.noErr("Append with the new lease", err)
	t.noErr("Release", other.Release(t.Context(), next))
	t.add("a", user("y"))
	wantEnd(t, other, "a", 3)
}

func closedHolder(t *test, other skein.Store) {
	t.add("a", created())
	_, err := other.Acquire(t.Context(), "a", skein.LeaseRequest{})
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
			l, err := t.s.Acquire(context.Background(), "a", skein.LeaseRequest{TakeOver: true, TTL: time.Hour})
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
