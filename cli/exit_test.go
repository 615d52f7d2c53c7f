package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/store/memory"
)

func TestExitCodesAndAdvice(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{errors.New("the disk is on fire"), 1, ""},
		{fault.Usage("--last %d", -1), 2, "see: skein show --help"},
		{&skein.AmbiguousError{Name: "x"}, 2, "write more of the ID or title of the one you mean"},
		{fmt.Errorf("a: %w", skein.ErrInvalid), 2, "see: skein show --help"},
		{fault.Missing("no session %q", "x"), 3, "see all sessions: skein list --all"},
		{&skein.LockedError{Session: "x"}, 4, "wait until it is done, or work on a copy: skein fork x"},
		{fmt.Errorf("the store is %w for 10s: PID 7 is writing to it; end it with: kill 7", skein.ErrLocked), 4, ""},
		{skein.ErrFenced, 4, "what was stored before that is safe; see what is new with: skein show NAME --last 5"},
		{&skein.FencedError{Session: "x", Fence: 1, Now: 2}, 4, "what was stored before that is safe; see what is new with: skein show x --last 5"},
		{&skein.ConflictError{Session: "x", Last: 3}, 1, "look at what is new with: skein show x --last 5"},
		{context.Canceled, 130, ""},
		{skein.ErrNewer, 1, "install a newer skein, or name another store with --store; this one was not changed"},
		{fault.Advise(skein.ErrNotFound, "look under the sofa"), 3, "look under the sofa"},
	} {
		code, hint := fault.Outcome(fmt.Errorf("show: %w", c.err), "skein show")
		if code != c.code || hint != c.says {
			t.Errorf("outcome(%v) = %d, %q; want %d, %q", c.err, code, hint, c.code, c.says)
		}
	}
}

func TestALockedSessionEndsTheCommandWith4(t *testing.T) {
	st := memory.New()
	begin := skein.NewEvent(skein.KindCreated, 1, skein.Created{Key: "cli:x"})
	if _, err := skein.Add(t.Context(), st, "s1", begin); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Acquire(t.Context(), "s1", skein.LeaseRequest{Program: "skein chat"}); err != nil {
		t.Fatal(err)
	}
	env, _, stderr := clitest.NewEnv(t, st)
	if got := Main(t.Context(), env, []string{"append", "cli:x"}); got != 4 {
		t.Errorf("append to a locked session exits %d, want 4; stderr: %s", got, stderr)
	}
	if got := stderr.String(); !strings.Contains(got, "skein chat") || !strings.Contains(got, "skein fork s1") {
		t.Errorf("stderr = %q, want the holder and what to do", got)
	}
}

// An error may quote a transcript.
func TestErrorsReachTheTerminalClean(t *testing.T) {
	env, _, stderr := clitest.NewEnv(t, memory.New())
	if got := Main(t.Context(), env, []string{"show", "a\x1b[31mb"}); got != 3 {
		t.Errorf("show exits %d, want 3", got)
	}
	if strings.Contains(stderr.String(), "\x1b") {
		t.Errorf("stderr = %q, want no control characters", stderr)
	}
}

func TestACancelledCommandExits130(t *testing.T) {
	env, _, stderr := clitest.NewEnv(t, memory.New())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Main(ctx, env, []string{"append", "x", "--create"}); got != 130 || stderr.String() != "skein: interrupted\n" {
		t.Errorf("a cancelled append exits %d with %q, want 130 and interrupted", got, stderr)
	}
}

func TestAFolderThatIsGoneIsSaidPlainly(t *testing.T) {
	env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: memory.New()})
	env.Getwd = func() (string, error) { return "", &fs.PathError{Op: "getwd", Err: fs.ErrNotExist} }
	got := Main(t.Context(), env, []string{"list"})
	if got != fault.ExitFailed || !strings.HasPrefix(stderr.String(), "skein: the current folder no longer exists") || !strings.Contains(stderr.String(), "\nchange to another one first: cd ~\n") {
		t.Errorf("in a folder that is gone, list exits %d: %s", got, stderr)
	}
}
