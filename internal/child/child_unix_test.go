//go:build unix

package child_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skein-dev/skein/internal/child"
)

func shell(ctx context.Context, script string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	var out bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = child.Environ(os.Environ()), &out, &out
	return cmd, &out
}

func run(t *testing.T, script string) string {
	t.Helper()
	cmd, out := shell(t.Context(), script)
	g, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%q: %v: %s", script, err, out)
	}
	return strings.TrimSpace(out.String())
}

func TestAChildInheritsNoDescriptors(t *testing.T) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil { // unlike os.Pipe, for children to inherit
		t.Fatal(err)
	}
	defer syscall.Close(fds[0])
	defer syscall.Close(fds[1])
	script := fmt.Sprintf(`if [ -e /dev/fd/%d ]; then echo open; else echo closed; fi`, fds[0])
	leak, out := shell(t.Context(), script)
	if err := leak.Run(); err != nil || strings.TrimSpace(out.String()) != "open" {
		t.Fatalf("a plain child finds descriptor %d %q, %v; the test needs it open", fds[0], out, err)
	}
	if got := run(t, script); got != "closed" {
		t.Errorf("the child finds descriptor %d %s, want it closed", fds[0], got)
	}
}

func TestAChildHasNoTerminal(t *testing.T) {
	if got := run(t, `if { true </dev/tty; } 2>/dev/null; then echo terminal; else echo none; fi`); got != "none" {
		t.Errorf("the child has a %s", got)
	}
}

func TestAChildKnowsNoSecrets(t *testing.T) {
	t.Setenv("SKEIN_TEST_API_KEY", "hidden")
	t.Setenv("SKEIN_TEST_PLAIN", "hidden")
	t.Setenv("XDG_TOKEN", "hidden")
	got := run(t, "env; echo home=$HOME path=$PATH")
	if strings.Contains(got, "hidden") || !strings.Contains(got, "path=/") {
		t.Errorf("the child knows\n%s\nwant a path and nothing of ours", got)
	}
	if e := child.Environ([]string{"MY_TOKEN=a", "OTHER=b", "PATH=c", "=d"}, "MY_TOKEN"); strings.Join(e, " ") != "MY_TOKEN=a PATH=c" {
		t.Errorf("Environ with MY_TOKEN = %q, want it and PATH", e)
	}
}

func TestTheEndOfTheContextEndsAllThatWasStarted(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd, _ := shell(ctx, `sh -c 'echo $$ >`+ready+`; exec sleep 1000' & wait`)
	if _, err := child.Start(cmd); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cmd.Wait(); !errors.Is(err, context.Canceled) && cmd.ProcessState.Success() {
		t.Errorf("Wait = %v, want that it was killed", err)
	}
	var pid int
	fmt.Sscan(string(line), &pid)
	gone(t, pid)
}

// gone fails the test unless the process ends.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.After(5 * time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for alive(pid) {
		select {
		case <-deadline:
			t.Fatalf("process %d, which the child started, still runs", pid)
		case <-tick.C:
		}
	}
}

// alive reports whether the process runs. A zombie does not.
func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, after, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(after, "Z")
	}
	return syscall.Kill(pid, 0) == nil
}

func TestOutputThatIsHeldOpenIsLetGo(t *testing.T) {
	cmd, out := shell(t.Context(), "echo begun; sleep 1000 & echo $!")
	g, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if !errors.Is(err, exec.ErrWaitDelay) || !strings.Contains(out.String(), "begun") {
		t.Errorf("Wait = %v with %q, want %v and what was written", err, out, exec.ErrWaitDelay)
	}
	if err := g.Kill(); err != nil {
		t.Errorf("Kill of what is left = %v, want nil", err)
	}
}

func TestAChildNeedsItsEnvironmentSaid(t *testing.T) {
	if _, err := child.Start(exec.CommandContext(t.Context(), "/bin/true")); err == nil {
		t.Error("Start of a command without Env = nil, want an error: it would inherit ours")
	}
}
