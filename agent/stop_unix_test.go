//go:build unix

package agent_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/storetest"
)

// TestAStoppedTurnThatWasTakenOverCannotGoOn stops a process in the middle of a
// tool, takes over its session, and lets the process continue.
func TestAStoppedTurnThatWasTakenOverCannotGoOn(t *testing.T) {
	dir := t.TempDir()
	j := job{Path: filepath.Join(dir, "skein.db"), Effects: filepath.Join(dir, "effects"), At: "tool c0", Wait: true}
	c := startChild(t, j)
	if line := c.line(); line != "tool c0\n" {
		t.Fatalf("the process says %q", line)
	}
	s, err := sqlite.Open(t.Context(), j.Path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := only(t, s)
	if err := storetest.StopAtRest(t.Context(), s, c.cmd.Process); err != nil {
		t.Fatal(err)
	}
	o := agent.Options{Store: s, Session: session, Program: "parent", Agent: agent.Agent{Model: newModel(says("mine"))}}
	if _, err := agent.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "locked by PID") {
		t.Fatalf("Open beside a stopped process = %v, want it locked", err)
	}
	o.TakeOver = true
	th, err := agent.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := th.Turn(t.Context(), skein.UserSays("now me")); err != nil || out.Text != "mine" {
		t.Errorf("Turn = %+v, %v", out, err)
	}
	had := logOf(t, eventsOf(t, s, o.Session))
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if line := c.line(); !strings.HasPrefix(line, "error: agent: turn in ") || !strings.Contains(line, skein.ErrFenced.Error()) {
		t.Errorf("the process says %q, want %v", line, skein.ErrFenced)
	}
	if got := logOf(t, eventsOf(t, s, o.Session)); got != had {
		t.Errorf("the process that was stopped has written:\n%s\nafter\n%s", got, had)
	}
	if states(t, eventsOf(t, s, o.Session))["c0"] != skein.Uncertain {
		t.Errorf("the call that was under way is not uncertain:\n%s", had)
	}
	if err := th.Close(t.Context(), "done"); err != nil {
		t.Error(err)
	}
}
