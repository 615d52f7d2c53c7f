package storetest

import (
	"time"

	"github.com/skein-dev/skein"
)

// leaseProcesses returns the checks of promise 6 that need other processes.
func leaseProcesses() []check {
	checks := []check{
		{name: "another process holds it", processes: heldElsewhere},
		{name: "a killed process frees it at once", processes: killedHolder},
		{name: "a process that was taken over is fenced", processes: fencedElsewhere},
	}
	if canStop {
		checks = append(checks, check{name: "a stopped process holds it, and is fenced when it goes on", processes: stoppedHolder})
	}
	return checks
}

// holder starts a child that holds the lease of session a.
func (t *test) holder(name string) (*process, skein.Fence) {
	t.Helper()
	p := t.start(job{Do: "hold", Session: "a", Name: name})
	r, ok := p.reply()
	if !ok || r.Error != "" || r.Fence < 1 {
		t.Fatalf("the child that should take the lease answers %+v (%v)", r, ok)
	}
	return p, r.Fence
}

// wantHeld checks that p holds the lease.
func (t *test) wantHeld(p *process) {
	t.Helper()
	_, err := skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{})
	t.wantErr("Acquire while another process holds the lease", err, skein.ErrLocked)
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{user("x")}}, skein.ErrLocked)
	if by := t.session("a").LockedBy; by == "" {
		t.Error("the session does not say who holds it")
	}
}

func heldElsewhere(t *test) {
	t.add("a", created())
	p, _ := t.holder("child")
	t.wantHeld(p)
	p.tell()
	if r, ok := p.reply(); !ok || r.Error != "" || r.Seq != 2 {
		t.Errorf("the holder's append answers %+v (%v), want seq 2", r, ok)
	}
	p.wait()
	t.add("a", user("when it has ended"))
	t.acquire("a", skein.LeaseRequest{})
}

func killedHolder(t *test) {
	t.add("a", created())
	rounds := 5
	if t.options.Frees > 0 {
		rounds = 1 // each round takes that long
	}
	for range rounds {
		p, fence := t.holder("child")
		t.wantHeld(p)
		p.kill()
		t.free()
		if by := t.session("a").LockedBy; by != "" {
			t.Errorf("the session says it is held by %s, who was killed", by)
		}
		l := t.acquire("a", skein.LeaseRequest{})
		if l.Fence <= fence {
			t.Errorf("the fence went from %d to %d", fence, l.Fence)
		}
		t.noErr("Release", skein.LeasesOf(t.s).Release(t.Context(), l))
		t.add("a", user("x"))
	}
}

// free waits, if that may take time, until nobody holds the lease of session a.
func (t *test) free() {
	t.Helper()
	if t.options.Frees > 0 {
		t.eventually("the lease of a killed process is free", func() bool { return t.session("a").LockedBy == "" })
	}
}

func fencedElsewhere(t *test) {
	t.add("a", created())
	p, _ := t.holder("child")
	l := t.acquire("a", skein.LeaseRequest{TakeOver: true})
	p.tell()
	if r, ok := p.reply(); !ok || r.Error == "" {
		t.Errorf("the append of the process that was taken over answers %+v (%v), want an error", r, ok)
	}
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
	p.wait() // the old holder must not release the new holder's lease
	_, err := skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{TTL: time.Hour})
	t.wantErr("Acquire after the old holder has ended", err, skein.ErrLocked)
	t.wantEnd("a", 2)
}

func stoppedHolder(t *test) {
	t.add("a", created())
	p, _ := t.holder("child")
	t.noErr("stopping the child", p.stop())
	t.wantHeld(p)
	l := t.acquire("a", skein.LeaseRequest{TakeOver: true})
	t.append(skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}})
	p.tell()
	t.noErr("letting the child go on", p.goOn())
	if r, ok := p.reply(); !ok || r.Error == "" {
		t.Errorf("the append of the process that was stopped answers %+v (%v), want an error", r, ok)
	}
	t.wantEnd("a", 2)
}
