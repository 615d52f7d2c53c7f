//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
)

// childStop stops itself in the middle of a transaction.
func childStop(args []string) error {
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	err = sqlite.Within(s, func() {
		fmt.Println("stops")
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-on // other threads may be stopped before this one
	})
	fmt.Println("goes on", err)
	return s.Close()
}

// A process that was stopped while it was writing does not keep the others
// waiting forever: their errors name it, and none of their events are stored.
func TestWritersAreToldWhoKeepsThemWaiting(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := sqlite.Open(t.Context(), name, sqlite.Options{Patience: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	add(t, s, "a", created(), user("one"))
	c := start(t, "stop", name)
	c.want("stops")
	wait(t, "the other process is stopped", func() bool {
		_, err := skein.Add(context.Background(), s, "a", user("never"))
		if !errors.Is(err, skein.ErrLocked) {
			t.Fatalf("Append beside a stopped writer = %v, want %v", err, skein.ErrLocked)
		}
		return runtime.GOOS != "linux" || strings.Contains(err.Error(), "stopped")
	})
	pid := c.cmd.Process.Pid
	for _, act := range []struct {
		name string
		do   func() error
	}{
		{"Append", func() error {
			_, err := skein.Add(context.Background(), s, "a", user("never"))
			return err
		}},
		{"Bin", func() error { return s.Bin(context.Background(), "a") }},
		{"Acquire", func() error {
			_, err := s.Acquire(context.Background(), "a", skein.LeaseRequest{Program: "test"})
			return err
		}},
	} {
		err := act.do()
		if !errors.Is(err, skein.ErrLocked) {
			t.Errorf("%s beside a stopped writer = %v, want %v", act.name, err, skein.ErrLocked)
		}
		for _, part := range []string{fmt.Sprintf("PID %d (", pid), "since ", fmt.Sprintf("kill -CONT %d", pid), name} {
			if runtime.GOOS == "linux" && !strings.Contains(err.Error(), part) {
				t.Errorf("%s = %q, want it to say %q", act.name, err, part)
			}
		}
	}
	if n := len(events(t, s, "a")); n != 2 {
		t.Errorf("beside a stopped writer the session reads as %d events, want 2", n)
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.want("goes on <nil>")
	c.wait()
	if last := add(t, s, "a", user("two")); last != 3 {
		t.Errorf("after the other went on the message has place %d, want 3: nothing that failed is ever stored", last)
	}
}

// A store that has only been read does not wait for a stopped writer when it
// closes, whatever work is left.
func TestReadersCloseBesideAStoppedWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, err := sqlite.Open(t.Context(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	add(t, s, "a", created(), user("one"))
	if err := sqlite.Owe(s); err != nil {
		t.Fatal(err)
	}
	c := start(t, "stop", name)
	c.want("stops")
	r, err := sqlite.Open(t.Context(), name, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sqlite.CloseFor(r, time.Hour)
	if n := len(events(t, r, "a")); n != 2 {
		t.Errorf("beside a stopped writer the session reads as %d events, want 2", n)
	}
	closed := make(chan error, 1)
	go func() { closed <- r.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Errorf("Close beside a stopped writer = %v, want nil", err)
		}
	case <-time.After(5 * time.Minute):
		t.Error("Close beside a stopped writer waits for it")
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.want("goes on <nil>")
	c.wait()
}

// A write that waits while other processes write keeps waiting as long as they
// make progress, however long that is.
func TestWritersWaitWhileOthersWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	const patience = 4 * time.Second // far longer than a machine ever stalls
	s, err := sqlite.Open(t.Context(), name, sqlite.Options{Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	add(t, s, "a", created())
	c := start(t, "occupy", name, (patience / 5).String())
	c.want("holds")
	if _, err := skein.Add(context.Background(), s, "a", user("mine")); err != nil {
		t.Errorf("Append beside a process that commits again and again = %v, want nil", err)
	}
	c.wait()
}

// childOccupy locks the file seven times, each time for the duration args[1].
func childOccupy(args []string) error {
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	for i := range 7 {
		err := sqlite.Within(s, func() {
			if i == 0 {
				fmt.Println("holds")
			}
			<-time.After(d)
		})
		if _, aerr := skein.Add(context.Background(), s, "a", user("theirs")); err != nil || aerr != nil {
			return errors.Join(err, aerr)
		}
	}
	return s.Close()
}
