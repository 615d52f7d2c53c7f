package cli

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/store/memory"
)

// A fullStore has no room for anything.
type fullStore struct{ skein.Store }

func (w fullStore) Unwrap() skein.Store { return w.Store }

// Sessions implements [skein.Store].
func (fullStore) Sessions(context.Context, skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		err := skein.ErrFull
		skein.Wrapf(&err, "sqlite: sessions")
		yield(skein.Session{}, err)
	}
}

func TestThePathOfAnErrorIsShownWithVerbose(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"list"}, "skein: disk is full\n"},
		{[]string{"list", "--verbose"}, "skein: disk is full\nthe error's path: sqlite: sessions: disk is full\n"},
	} {
		env, _, stderr := clitest.NewEnv(t, fullStore{memory.New()})
		if got := Main(t.Context(), env, c.args); got != fault.ExitFailed || !strings.HasPrefix(stderr.String(), c.want) {
			t.Errorf("%q exits %d and says %q, want 1 and first %q", c.args, got, stderr, c.want)
		}
	}
}

func TestASessionInTheBinIsSaidToBeThere(t *testing.T) {
	st := memory.New()
	clitest.Begin(t, st, "session1", "the walrus")
	if err := st.Bin(t.Context(), "session1"); err != nil {
		t.Fatal(err)
	}
	env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
	if got := Main(t.Context(), env, []string{"show", "walrus"}); got != fault.ExitNotFound || stderr.String() != "skein: the session \"the walrus\" is in the bin\nbring it back: skein restore session1\n" {
		t.Errorf("show of a session in the bin exits %d and says %q", got, stderr)
	}
}

func TestRunShowsWhatWasSaidLastOnATerminal(t *testing.T) {
	st := memory.New()
	clitest.Begin(t, st, "session1", "the walrus")
	for _, c := range []struct {
		terminal bool
		more     []string
		shown    bool
	}{{true, nil, true}, {true, []string{"--no-history"}, false}, {true, []string{"--json"}, false}, {false, nil, false}} {
		env, stdout, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		env.Terminal.Err = c.terminal
		args := append([]string{"run", "-r", "session1", "--model", "echo", "hello"}, c.more...)
		if got := Main(t.Context(), env, args); got != 0 {
			t.Fatalf("%q exits %d: %s", args, got, stderr)
		}
		if got := strings.Contains(stderr.String(), "about the walrus"); got != c.shown {
			t.Errorf("%q on a terminal: %t, shows what was said: %t, want %t; stderr: %s", args, c.terminal, got, c.shown, stderr)
		}
		if len(c.more) == 0 && stdout.String() != "hello\n" {
			t.Errorf("%q prints %q, want the answer alone", args, stdout)
		}
		if want := "This was session session1\nResume with: skein chat -r session1\n"; !strings.HasSuffix(stderr.String(), want) {
			t.Errorf("%q ends with %q, want %q", args, stderr, want)
		}
	}
}
