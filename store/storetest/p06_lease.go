package storetest

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

func leases() []check {
	return append([]check{
		{name: "which kinds need the number", run: fencedKinds},
		{name: "a number that is not the newest is refused", run: staleFence},
		{name: "a session says who holds its lease", run: whoHolds},
		{name: "before the session has begun", run: leaseFirst},
		{name: "taking over ends the other's turn", run: takeOver},
		{name: "given back, anybody may write", run: released},
		{name: "one of a session that was deleted and begun anew", run: reborn},
		{name: "one with a TTL ends by itself", run: expires},
		{name: "one with a TTL ends in time", run: expiresInTime},
		{name: "one with a TTL can be renewed", run: renewed},
		{name: "one with a TTL is a process's elsewhere", run: forElsewhere},
		{name: "one of 16 gets it", run: func(t *test) { oneHolder(t, []skein.Store{t.s}) }},
		{name: "one of 16 at two handles gets it", two: func(t *test, other skein.Store) { oneHolder(t, []skein.Store{t.s, other}) }},
		{name: "another handle is fenced", two: fencedAcross},
		{name: "closing the handle gives it back", two: closedHolder},
		{name: "a writer that was taken over in the middle, 16 writers", run: takenMidway},
	}, leaseProcesses()...)
}

func (t *asker) acquire(id skein.SessionID, r skein.LeaseRequest) skein.Lease {
	t.Helper()
	l, err := skein.LeasesOf(t.s).Acquire(t.Context(), id, r)
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
		_, err := skein.LeasesOf(t.s).Acquire(t.Context(), "a", r)
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
	t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), l))
	if by := t.session("a").LockedBy; by != "" {
		t.Errorf("LockedBy is %q after the lease was given back", by)
	}
}

func leaseFirst(t *test) {
	l := t.acquire("a", skein.LeaseRequest{})
	t.wantEnd("a", 0)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{created(), user("x")}}, skein.ErrLocked)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created()}}) // created needs no fencing number
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
	t.noErr("Release of a lease that was taken over", skein.LeasesOf(t.s).Release(t.Context(), old))
	_, err := skein.LeasesOf(t.s).Renew(t.Context(), old, time.Minute)
	t.wantErr("Renew of a lease that was taken over", err, skein.ErrFenced)
	_, err = skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire after the old one was given back", err, skein.ErrLocked)
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
	t.wantEnd("a", 2)
}

func released(t *test) {
	t.add("a", created())
	l := t.acquire("a", skein.LeaseRequest{})
	for range 2 {
		t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), l))
	}
	t.add("a", user("without"))
	_, err := skein.LeasesOf(t.s).Renew(t.Context(), l, time.Minute)
	t.wantErr("Renew of a lease that was given back", err, skein.ErrFenced)
	next := t.acquire("a", skein.LeaseRequest{})
	if next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
	t.refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	for _, id := range []skein.SessionID{"nobody", "", "\xff\xfe", "a\x00b"} { // of a session that there is not, or cannot be
		l := skein.Lease{Session: id, Fence: 3}
		t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), l))
		_, err := skein.LeasesOf(t.s).Renew(t.Context(), l, time.Minute)
		t.wantErr("Renew", err, skein.ErrFenced)
	}
}

// reborn deletes a session while somebody believes to hold its lease.
func reborn(t *test) {
	t.add("a", created())
	old := t.acquire("a", skein.LeaseRequest{})
	t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), old))
	t.delete("a")
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created()}, Again: true})
	t.refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
	l := t.acquire("a", skein.LeaseRequest{})
	if l.Fence <= old.Fence {
		t.Errorf("the fence went from %d to %d", old.Fence, l.Fence)
	}
	t.refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{user("late")}}, skein.ErrFenced)
}
