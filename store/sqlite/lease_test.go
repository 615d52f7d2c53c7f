//go:build unix

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest"
)

func TestLeaseOfAKilledProcessIsFreeAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	c := start(t, "hold", name, "a")
	c.want("fence 1")
	_, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{Program: "test"})
	var locked *skein.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != c.cmd.Process.Pid || locked.Holder.Program != "child" {
		t.Fatalf("Acquire beside a holder = %v, want that PID %d of program child holds it", err, c.cmd.Process.Pid)
	}
	if _, err := skein.Add(t.Context(), s, "a", user("x")); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Append beside a holder = %v, want %v", err, skein.ErrLocked)
	}
	if x, err := s.Session(t.Context(), "a"); err != nil || x.LockedBy != locked.Holder.String() {
		t.Errorf("Session().LockedBy = %q (%v), want %q", x.LockedBy, err, locked.Holder)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()
	if x, err := s.Session(t.Context(), "a"); err != nil || x.LockedBy != "" {
		t.Errorf("after kill -9, Session().LockedBy = %q (%v), want nobody", x.LockedBy, err)
	}
	add(t, s, "a", user("x"))
	l, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{Program: "test"})
	if err != nil || l.Fence != 2 {
		t.Errorf("after kill -9, Acquire = %+v, %v, want fence 2", l, err)
	}
}

func TestAStoppedProcessHoldsItsLeaseUntilItIsTakenOver(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	c := start(t, "hold", name, "a")
	c.want("fence 1")
	if err := storetest.StopAtRest(t.Context(), s, c.cmd.Process); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{}); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Acquire beside a stopped holder = %v, want %v", err, skein.ErrLocked)
	}
	l, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{TakeOver: true})
	if err != nil || l.Fence != 2 {
		t.Fatalf("Acquire to take over = %+v, %v, want fence 2", l, err)
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.say("write")
	c.want("fenced true failed true")
	// The end of the old holder must not release what it no longer holds.
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()
	if _, err := skein.Add(t.Context(), s, "a", user("x")); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Append without the fence after the old holder's end = %v, want %v", err, skein.ErrLocked)
	}
	if _, err := s.Append(t.Context(), skein.Batch{Session: "a", Fence: l.Fence, Events: []skein.Event{user("x")}}); err != nil {
		t.Errorf("Append with the new fence = %v", err)
	}
}

// A row that names a live process does not count without the process's lock: a
// reused PID looks like this.
func TestAReusedPIDHoldsNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	c := start(t, "hold", name, "a")
	c.want("fence 1")
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.cmd.Wait()
	// Now a process has the dead one's number: this one.
	shell(t, name, fmt.Sprintf("UPDATE leases SET holder = json_set(holder, '$.pid', %d) WHERE session = 'a';", os.Getpid()))
	add(t, s, "a", user("x"))
	// Conversely, the holder is alive, but the row names nobody.
	c = start(t, "hold", name, "a")
	c.want("fence 2")
	shell(t, name, "UPDATE leases SET holder = json_set(holder, '$.pid', 4194304) WHERE session = 'a';")
	if _, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{}); !errors.Is(err, skein.ErrLocked) {
		t.Errorf("Acquire = %v, want %v: the lock is held, whatever the row says", err, skein.ErrLocked)
	}
}

func TestOldLockFilesAreSwept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	for i := range 5 {
		l, err := s.Acquire(t.Context(), "a", skein.LeaseRequest{TakeOver: true})
		if err != nil || int(l.Fence) != i+1 {
			t.Fatalf("Acquire = %+v, %v", l, err)
		}
	}
	for range 3 {
		c := start(t, "hold", name, "b")
		c.line()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
	shut(t, s)
	if _, err := os.Create(filepath.Join(name+"-locks", "0123-7.lock")); err != nil {
		t.Fatal(err)
	}
	open(t, name)
	wait(t, "the lock files but that of the killed holder are removed", func() bool {
		entries, err := os.ReadDir(name + "-locks")
		return err == nil && len(entries) == 1
	})
}
