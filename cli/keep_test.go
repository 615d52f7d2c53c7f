package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/store/memory"
)

func TestPruneLeavesWhatIsInUseAndGoesOn(t *testing.T) {
	st := memory.New()
	for _, id := range []skein.SessionID{"session1", "session2", "session3"} {
		clitest.Begin(t, st, id, "the "+string(id))
	}
	if _, err := st.Acquire(t.Context(), "session2", skein.LeaseRequest{Program: "skein chat"}); err != nil {
		t.Fatal(err)
	}
	env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
	if got := Main(t.Context(), env, []string{"prune", "--older-than", "1d", "--purge", "--yes"}); got != 4 {
		t.Errorf("prune with a session in use exits %d, want 4; stderr: %s", got, stderr)
	}
	for _, want := range []string{"destroyed 2 sessions", "skein: session2: ", "skein chat"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("prune says %q, want %q in it", stderr, want)
		}
	}
	var left []skein.SessionID
	for s, err := range st.Sessions(t.Context(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, s.ID)
	}
	if len(left) != 1 || left[0] != "session2" {
		t.Errorf("after prune there are %q, want session2 alone", left)
	}
}

func TestPruneAsksAtATerminal(t *testing.T) {
	for answer, want := range map[string]string{"y\n": "put 1 session", "yes\n": "put 1 session", "n\n": "nothing was done", "\n": "nothing was done", "": "nothing was done"} {
		st := memory.New()
		clitest.Begin(t, st, "session1", "old")
		env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		env.Terminal.In, env.Stdin = true, strings.NewReader(answer)
		if got := Main(t.Context(), env, []string{"prune", "--older-than", "1d"}); got != 0 {
			t.Errorf("prune answered %q exits %d, want 0; stderr: %s", answer, got, stderr)
		}
		if got := stderr.String(); !strings.Contains(got, ": put them in the bin? [y/N] ") || !strings.Contains(got, want) {
			t.Errorf("prune answered %q says %q, want the question and %q", answer, got, want)
		}
		s, err := st.Session(t.Context(), "session1")
		if err != nil || (s.Binned != 0) != strings.HasPrefix(answer, "y") {
			t.Errorf("after prune answered %q: binned at %v, %v", answer, s.Binned, err)
		}
	}
}

func TestAWatchThatNeverBeganIsInterrupted(t *testing.T) {
	env, _, stderr := clitest.NewEnv(t, memory.New())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Main(ctx, env, []string{"import", "--watch", t.TempDir()}); got != 130 {
		t.Errorf("import --watch with Ctrl-C before its first import exits %d, want 130; stderr: %s", got, stderr)
	}
}

// A reader keeps old bytes in the file: a later scrub that finds nothing says so
// too, and waits for it.
func TestScrubWaitsAlsoWhenItFindsNothing(t *testing.T) {
	for _, c := range []struct {
		args  []string
		swept int
		says  string
	}{
		{nil, 0, "not yet gone from the file: the log keeps old bytes"},
		{[]string{"--wait"}, 1, "waiting: the log keeps old bytes"},
	} {
		st := &slowToSweep{Store: memory.New()}
		clitest.Begin(t, st, "session1", "no secret")
		env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		if got := Main(t.Context(), env, append([]string{"scrub", "session1", "--found", "--yes"}, c.args...)); got != 0 {
			t.Errorf("scrub %q exits %d, want 0; stderr: %s", c.args, got, stderr)
		}
		if got := stderr.String(); !strings.Contains(got, c.says) || !strings.Contains(got, "nothing in session") || st.swept != c.swept {
			t.Errorf("scrub %q swept %d times and says %q, want %d times and %q", c.args, st.swept, got, c.swept, c.says)
		}
	}
}

// slowToSweep has bytes of what was removed by an earlier command.
type slowToSweep struct {
	*memory.Store
	swept int
}

func (s *slowToSweep) Swept(context.Context) error { s.swept++; return nil }

func (s *slowToSweep) Left(context.Context) (string, error) { return "the log keeps old bytes", nil }
