package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
	"github.com/skein-dev/skein/store/sqlite"
)

// watchFile measures how soon a line that another program appends is found, and
// the cost of watching while nothing happens.
func watchFile(ctx context.Context, e *fixture) (err error) {
	dir, err := e.folder("watched")
	if err != nil {
		return err
	}
	c, err := gen.NewCorpus(filepath.Join(dir, "in"), 77, 50, 8<<20)
	if err != nil {
		return err
	}
	bin, err := e.build(ctx, "")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, bin, "import", "--watch", c.Dir)
	cmd.Env = home(dir)
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		stop := cmd.Process.Signal(os.Interrupt)
		if werr := cmd.Wait(); err == nil && werr == nil {
			err = stop
		}
	}()
	t := gen.NewTranscript(4242)
	t.Turn()
	live := filepath.Join(c.Dir, "projects", "-home-ada-live", t.ID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(live), 0o700); err != nil {
		return err
	}
	s, err := waitForStore(ctx, filepath.Join(dir, "skein.db"))
	if err != nil {
		return err
	}
	defer s.Close()
	var found series
	for i := range 21 {
		d, err := appendAndFind(ctx, s, live, t, i)
		if err != nil {
			return err
		}
		if i > 0 { // the first one waits for the import of everything else
			found = append(found, d)
		}
	}
	const rest = 10 * time.Second
	before, err := cpuOf(cmd.Process.Pid)
	if err != nil {
		return err
	}
	if err := wait(ctx, rest); err != nil {
		return err
	}
	after, err := cpuOf(cmd.Process.Pid)
	if err != nil {
		return err
	}
	e.add(row{
		what: "a line appended under --watch is found", got: fmt.Sprintf("%s, at most %s", short(found.median()), short(found.at(1))),
		goal: "within 200 ms", holds: holds(found.at(1) < 200*time.Millisecond),
	})
	e.add(row{
		what: "CPU of --watch at rest", got: fmt.Sprintf("%s in %s", short(after-before), rest),
		goal: "none", holds: holds(after-before <= 20*time.Millisecond),
	})
	return nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// waitForStore opens the store as soon as the other process has created it.
func waitForStore(ctx context.Context, name string) (*sqlite.Store, error) {
	for range 600 {
		if _, err := os.Stat(name + "-wal"); err == nil {
			return sqlite.Open(ctx, name, sqlite.Options{})
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("watch: no store after 30 s")
}

// appendAndFind appends a prompt with a unique word and returns how long it
// takes until a search finds it.
func appendAndFind(ctx context.Context, s skein.Store, name string, t *gen.Transcript, i int) (time.Duration, error) {
	word := fmt.Sprintf("needle%dq", i)
	before := len(t.Bytes())
	if i == 0 {
		before = 0
	}
	t.Ask("Please look for " + word)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if _, err := f.Write(t.Bytes()[before:]); err != nil {
		f.Close()
		return 0, err
	}
	if err := f.Close(); err != nil {
		return 0, err
	}
	for time.Since(start) < 30*time.Second {
		res, err := s.Search(ctx, skein.Query{Terms: []skein.Term{{Words: []string{word}}}})
		if err != nil {
			return 0, err
		}
		if len(res.Hits) > 0 {
			return time.Since(start), nil
		}
		if err := wait(ctx, 3*time.Millisecond); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%s: not found after 30 s", word)
}

// cpuOf returns the CPU time of a running process, in steps of 10 ms. Only
// Linux reports it.
func cpuOf(pid int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 13 {
		return 0, fmt.Errorf("/proc/%d/stat: %q", pid, b)
	}
	user, err := strconv.Atoi(string(f[11]))
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(string(f[12]))
	return time.Duration(user+system) * 10 * time.Millisecond, err
}
