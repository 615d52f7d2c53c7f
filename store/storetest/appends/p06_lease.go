package appends

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func leases() []harness.Check {
	return append([]harness.Check{
		{Name: "which kinds need the number", Run: fencedKinds},
		{Name: "a number that is not the newest is refused", Run: staleFence},
		{Name: "a session says who holds its lease", Run: whoHolds},
		{Name: "before the session has begun", Run: leaseFirst},
		{Name: "taking over ends the other's turn", Run: takeOver},
		{Name: "given back, anybody may write", Run: released},
		{Name: "one of a session that was deleted and begun anew", Run: reborn},
		{Name: "one with a TTL ends by itself", Run: expires},
		{Name: "one with a TTL ends in time", Run: expiresInTime},
		{Name: "one with a TTL can be renewed", Run: renewed},
		{Name: "one that is renewed ends in time", Run: renewedExpiresInTime},
		{Name: "one with a TTL is a process's elsewhere", Run: forElsewhere},
		{Name: "one of 16 gets it", Run: func(t *harness.Test) { oneHolder(t, []skein.Store{t.Store}) }},
		{Name: "one of 16 at two handles gets it", Two: func(t *harness.Test, other skein.Store) { oneHolder(t, []skein.Store{t.Store, other}) }},
		{Name: "another handle is fenced", Two: fencedAcross},
		{Name: "closing the handle gives it back", Two: closedHolder},
		{Name: "a writer that was taken over in the middle, 16 writers", Run: takenMidway},
	}, leaseProcesses()...)
}

func isFenced(k skein.Kind) bool {
	switch k {
	case skein.KindSaid, skein.KindTool, skein.KindStep, skein.KindCompacted, skein.KindRewound:
		return true
	}
	return false
}

func fencedKinds(t *harness.Test) {
	last := t.Add("a", fixture.Created(), fixture.User("x"), fixture.User("y"), fixture.User("z"), fixture.User("w"))
	l := t.Acquire("a", skein.LeaseRequest{Program: "test"})
	for _, e := range fixture.Everything()[1:] {
		b := skein.Batch{Session: "a", Events: []skein.Event{e}}
		if isFenced(e.Kind) {
			t.Refused(b, skein.ErrLocked)
			b.Events = append([]skein.Event{fixture.Noted("first")}, e)
			t.Refused(b, skein.ErrLocked)
			b.Fence = l.Fence
		}
		last += skein.Seq(len(b.Events))
		if r := t.Append(b); r.Last != last {
			t.Errorf("Append(%s) = %+v, want the end %d", harness.Show(b), r, last)
		}
	}
}

func staleFence(t *harness.Test) {
	t.Add("a", fixture.Created())
	for _, e := range []skein.Event{fixture.User("x"), fixture.Titled("x")} {
		t.Refused(skein.Batch{Session: "a", Fence: 1, Events: []skein.Event{e}}, skein.ErrFenced)
	}
	l := t.Acquire("a", skein.LeaseRequest{})
	for _, f := range []skein.Fence{l.Fence - 1, l.Fence + 1, 1 << 40} {
		if f == 0 {
			continue
		}
		for _, e := range []skein.Event{fixture.User("x"), fixture.Titled("x")} {
			t.Refused(skein.Batch{Session: "a", Fence: f, Events: []skein.Event{e}}, skein.ErrFenced)
		}
	}
	t.Refused(skein.Batch{Session: "a", Fence: -1, Events: []skein.Event{fixture.User("x")}}, skein.ErrInvalid)
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("x")}})
	_, err := t.Store.Append(t.Context(),
		skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("unstored")}},
		skein.Batch{Session: "b", Fence: 7, Events: []skein.Event{fixture.Created()}})
	t.WantErr("Append of two batches, one fenced", err, skein.ErrFenced)
	t.WantEnd("a", 2)
}

func whoHolds(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	if by := t.Session("a").LockedBy; by != "" {
		t.Errorf("LockedBy is %q before there was a lease", by)
	}
	l := t.Acquire("a", skein.LeaseRequest{Program: "skein chat"})
	if l.Holder.PID != os.Getpid() || l.Holder.Program != "skein chat" || l.Holder.Since == 0 || l.Expires != 0 {
		t.Errorf("Acquire = %+v, want this process, skein chat, a time, and no end", l)
	}
	if by := t.Session("a").LockedBy; !strings.Contains(by, "skein chat") {
		t.Errorf("LockedBy is %q, want the program in it", by)
	}
	harness.Equal(t, "LockedBy in Sessions", harness.All(t, t.Store.Sessions(t.Context(), skein.Filter{}))[0].LockedBy, t.Session("a").LockedBy)
	for _, r := range []skein.LeaseRequest{{Program: "other"}, {Program: "skein chat"}, {TTL: time.Minute}} {
		_, err := skein.LeasesOf(t.Store).Acquire(t.Context(), "a", r)
		var locked *skein.LockedError
		if !errors.As(err, &locked) || locked.Session != "a" || locked.Holder != l.Holder {
			t.Errorf("second Acquire(%+v) = %v, want a LockedError with %+v", r, err, l.Holder)
		}
	}
	_, err := t.Store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{fixture.User("x")}})
	var locked *skein.LockedError
	if !errors.As(err, &locked) || locked.Holder != l.Holder {
		t.Errorf("Append = %v, want a LockedError with %+v", err, l.Holder)
	}
	t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), l))
	if by := t.Session("a").LockedBy; by != "" {
		t.Errorf("LockedBy is %q after the lease was given back", by)
	}
}

func leaseFirst(t *harness.Test) {
	l := t.Acquire("a", skein.LeaseRequest{})
	t.WantEnd("a", 0)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User("x")}}, skein.ErrLocked)
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created()}}) // created needs no fencing number
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("x")}})
	t.WantEnd("a", 2)
}

func takeOver(t *harness.Test) {
	t.Add("a", fixture.Created())
	old := t.Acquire("a", skein.LeaseRequest{Program: "old"})
	l := t.Acquire("a", skein.LeaseRequest{Program: "new", TakeOver: true})
	if l.Fence <= old.Fence {
		t.Errorf("the fence went from %d to %d", old.Fence, l.Fence)
	}
	for _, e := range []skein.Event{fixture.User("late"), fixture.Titled("late")} {
		t.Refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{e}}, skein.ErrFenced)
	}
	t.NoErr("Release of a lease that was taken over", skein.LeasesOf(t.Store).Release(t.Context(), old))
	_, err := skein.LeasesOf(t.Store).Renew(t.Context(), old, time.Minute)
	t.WantErr("Renew of a lease that was taken over", err, skein.ErrFenced)
	_, err = skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.WantErr("Acquire after the old one was given back", err, skein.ErrLocked)
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("x")}})
	t.WantEnd("a", 2)
}

func released(t *harness.Test) {
	t.Add("a", fixture.Created())
	l := t.Acquire("a", skein.LeaseRequest{})
	for range 2 {
		t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), l))
	}
	t.Add("a", fixture.User("without"))
	_, err := skein.LeasesOf(t.Store).Renew(t.Context(), l, time.Minute)
	t.WantErr("Renew of a lease that was given back", err, skein.ErrFenced)
	next := t.Acquire("a", skein.LeaseRequest{})
	if next.Fence <= l.Fence {
		t.Errorf("the fence went from %d to %d", l.Fence, next.Fence)
	}
	t.Refused(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("late")}}, skein.ErrFenced)
	for _, id := range []skein.SessionID{"nobody", "", "\xff\xfe", "a\x00b"} { // of a session that there is not, or cannot be
		l := skein.Lease{Session: id, Fence: 3}
		t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), l))
		_, err := skein.LeasesOf(t.Store).Renew(t.Context(), l, time.Minute)
		t.WantErr("Renew", err, skein.ErrFenced)
	}
}

// reborn deletes a session while somebody believes to hold its lease.
func reborn(t *harness.Test) {
	t.Add("a", fixture.Created())
	old := t.Acquire("a", skein.LeaseRequest{})
	t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), old))
	t.Delete("a")
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created()}, Again: true})
	t.Refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{fixture.User("late")}}, skein.ErrFenced)
	l := t.Acquire("a", skein.LeaseRequest{})
	if l.Fence <= old.Fence {
		t.Errorf("the fence went from %d to %d", old.Fence, l.Fence)
	}
	t.Refused(skein.Batch{Session: "a", Fence: old.Fence, Events: []skein.Event{fixture.User("late")}}, skein.ErrFenced)
}
