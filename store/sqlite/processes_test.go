package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

func isReadOnly(err error) bool { return errors.Is(err, skein.ErrReadOnly) }

// Two processes with eight writers each in the same sessions lose nothing and
// never get the error that the database is locked.
func TestTwoProcessesWrite(t *testing.T) {
	const each, writers = 60, 8
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	args := []string{name, fmt.Sprint(each)}
	for w := range writers {
		id := fmt.Sprint("s", w)
		add(t, s, skein.SessionID(id), created())
		args = append(args, id)
	}
	c := start(t, "write", args...)
	errs := make(chan error)
	for w := range writers {
		go func() {
			for i := range each {
				if _, err := skein.Add(context.Background(), s, skein.SessionID(fmt.Sprint("s", w)), user(fmt.Sprint("parent ", i))); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Errorf("Append beside another process = %v", err)
		}
	}
	c.wait()
	for w := range writers {
		id := skein.SessionID(fmt.Sprint("s", w))
		if n := len(events(t, s, id)); n != 1+2*each {
			t.Errorf("session %s has %d events, want %d", id, n, 1+2*each)
		}
		if x, err := s.Session(t.Context(), id); err != nil || x.Messages != 2*each {
			t.Errorf("Session(%s) has %d messages (%v), want %d", id, x.Messages, err, 2*each)
		}
	}
}

// childFollow watches a session and prints each event as it arrives.
func childFollow(args []string) error {
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	for e, err := range s.Watch(context.Background(), skein.SessionID(args[1]), 0) {
		if err != nil {
			return err
		}
		fmt.Println(e.Seq)
	}
	return nil
}

func TestAnotherProcessSeesAnAppendSoon(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	c := start(t, "follow", name, "a")
	c.want("1")
	var slowest time.Duration
	for i := range 20 {
		add(t, s, "a", user("x"))
		at := time.Now()
		c.want(fmt.Sprint(i + 2))
		slowest = max(slowest, time.Since(at))
	}
	t.Logf("the slowest of 20 was seen after %s", slowest)
}
