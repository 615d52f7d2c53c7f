package appends

import (
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// leaseProcesses returns the checks of promise 6 that need other processes.
func leaseProcesses() []harness.Check {
	checks := []harness.Check{
		{Name: "another process holds it", Processes: heldElsewhere},
		{Name: "a killed process frees it at once", Processes: killedHolder},
		{Name: "a process that was taken over is fenced", Processes: fencedElsewhere},
	}
	if harness.CanStop {
		checks = append(checks, harness.Check{Name: "a stopped process holds it, and is fenced when it goes on", Processes: stoppedHolder})
	}
	return checks
}

// holder starts a child that holds the lease of session a.
func holder(t *harness.Test, name string) (*harness.Process, skein.Fence) {
	t.Helper()
	p := t.Start(harness.Job{Do: "hold", Session: "a", Name: name})
	r, ok := p.Reply()
	if !ok || r.Error != "" || r.Fence < 1 {
		t.Fatalf("the child that should take the lease answers %+v (%v)", r, ok)
	}
	return p, r.Fence
}

// wantHeld checks that p holds the lease.
func wantHeld(t *harness.Test, p *harness.Process) {
	t.Helper()
	_, err := skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.WantErr("Acquire while another process holds the lease", err, skein.ErrLocked)
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("x")}}, skein.ErrLocked)
	if by := t.Session("a").LockedBy; by == "" {
		t.Error("the session does not say who holds it")
	}
}

func heldElsewhere(t *harness.Test) {
	t.Add("a", fixture.Created())
	p, _ := holder(t, "child")
	wantHeld(t, p)
	p.Tell()
	if r, ok := p.Reply(); !ok || r.Error != "" || r.Seq != 2 {
		t.Errorf("the holder's append answers %+v (%v), want seq 2", r, ok)
	}
	p.Wait()
	t.Add("a", fixture.User("when it has ended"))
	t.Acquire("a", skein.LeaseRequest{})
}

func killedHolder(t *harness.Test) {
	t.Add("a", fixture.Created())
	rounds := 5
	if t.Options.Frees > 0 {
		rounds = 1 // each round takes that long
	}
	for range rounds {
		p, fence := holder(t, "child")
		wantHeld(t, p)
		p.Kill()
		free(t)
		if by := t.Session("a").LockedBy; by != "" {
			t.Errorf("the session says it is held by %s, who was killed", by)
		}
		l := t.Acquire("a", skein.LeaseRequest{})
		if l.Fence <= fence {
			t.Errorf("the fence went from %d to %d", fence, l.Fence)
		}
		t.NoErr("Release", skein.LeasesOf(t.Store).Release(t.Context(), l))
		t.Add("a", fixture.User("x"))
	}
}

// free waits, if that may take time, until nobody holds the lease of session a.
func free(t *harness.Test) {
	t.Helper()
	if t.Options.Frees > 0 {
		eventually(t, "the lease of a killed process is free", func() bool { return t.Session("a").LockedBy == "" })
	}
}

func fencedElsewhere(t *harness.Test) {
	t.Add("a", fixture.Created())
	p, _ := holder(t, "child")
	l := t.Acquire("a", skein.LeaseRequest{TakeOver: true})
	p.Tell()
	if r, ok := p.Reply(); !ok || r.Error == "" {
		t.Errorf("the append of the process that was taken over answers %+v (%v), want an error", r, ok)
	}
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("x")}})
	p.Wait() // the old holder must not release the new holder's lease
	_, err := skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Hour})
	t.WantErr("Acquire after the old holder has ended", err, skein.ErrLocked)
	t.WantEnd("a", 2)
}

func stoppedHolder(t *harness.Test) {
	t.Add("a", fixture.Created())
	p, _ := holder(t, "child")
	t.NoErr("stopping the child", p.Stop())
	wantHeld(t, p)
	l := t.Acquire("a", skein.LeaseRequest{TakeOver: true})
	t.Append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{fixture.User("x")}})
	p.Tell()
	t.NoErr("letting the child go on", p.GoOn())
	if r, ok := p.Reply(); !ok || r.Error == "" {
		t.Errorf("the append of the process that was stopped answers %+v (%v), want an error", r, ok)
	}
	t.WantEnd("a", 2)
}
