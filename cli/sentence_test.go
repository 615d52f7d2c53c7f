package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/screen"
	"github.com/skein-dev/skein/store/memory"
)

func TestAnErrorSaysItsCauseAndNotItsPath(t *testing.T) {
	act := func(err error, acts ...string) error {
		for _, a := range acts {
			skein.Wrapf(&err, "%s", a)
		}
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{act(fmt.Errorf("session 01a2: fence 7, now it is 8: %w", skein.ErrFenced), "sqlite: append to 01a2", "agent: turn in 01a2"), "another program took this session over, so nothing more was stored here"},
		{act(fmt.Errorf("session nope %w", skein.ErrNotFound), "sqlite: session nope", `session "nope"`), "session nope not found"},
		{act(fmt.Errorf("%w: file is not a database (26)", skein.ErrCorrupt), "sqlite: open /x/skein.db"), "open /x/skein.db: stored data is damaged: file is not a database (26)"},
		{act(errors.New("disk I/O error"), "sqlite: append to 01a2", "agent: turn in 01a2"), "append to 01a2: disk I/O error"},
		{act(errors.New("model is busy"), "agent: turn in 01a2"), "model is busy"},
		{fmt.Errorf("a.jsonl: line 7: %w", act(errors.New("disk I/O error"), "sqlite: append to 01a2")), "a.jsonl: line 7: append to 01a2: disk I/O error"},
		{act(&fs.PathError{Op: "open", Path: "/a/b", Err: fs.ErrPermission}, "file /a/b"), "open /a/b: permission denied"},
		{errors.Join(act(skein.ErrFull, "sqlite: append to 01a2"), errors.New("other")), "append to 01a2: disk is full\nother"},
		{advise(act(skein.ErrClosed, "memory: feed"), "go"), "feed: store is closed"},
	} {
		if got := sentence(c.err); got != c.want {
			t.Errorf("sentence(%q) = %q, want %q", c.err, got, c.want)
		}
	}
}

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
		{[]string{"list"}, "skein: sessions: disk is full\n"},
		{[]string{"list", "--verbose"}, "skein: sessions: disk is full\nthe error's path: sqlite: sessions: disk is full\n"},
	} {
		env, _, stderr := newEnv(t, fullStore{memory.New()})
		if got := Main(t.Context(), env, c.args); got != exitFailed || !strings.HasPrefix(stderr.String(), c.want) {
			t.Errorf("%q exits %d and says %q, want 1 and first %q", c.args, got, stderr, c.want)
		}
	}
}

func TestASessionInTheBinIsSaidToBeThere(t *testing.T) {
	st := memory.New()
	begin(t, st, "session1", "the walrus")
	if err := st.Bin(t.Context(), "session1"); err != nil {
		t.Fatal(err)
	}
	env, _, stderr := newEnv(t, shared{st})
	if got := Main(t.Context(), env, []string{"show", "walrus"}); got != exitNotFound || stderr.String() != "skein: the session \"the walrus\" is in the bin\nbring it back: skein restore session1\n" {
		t.Errorf("show of a session in the bin exits %d and says %q", got, stderr)
	}
}

// A crowdedStore has no room for new messages.
type crowdedStore struct{ skein.Store }

func (s crowdedStore) Unwrap() skein.Store { return s.Store }

// Append implements [skein.Store].
func (crowdedStore) Append(context.Context, ...skein.Batch) ([]skein.Receipt, error) {
	return nil, skein.ErrFull
}

// A promptScreen remembers what was put into the editor.
type promptScreen struct {
	screen.Screen
	prompt string
}

// Prefill implements [screen.Screen].
func (s *promptScreen) Prefill(text string) { s.prompt = text }

func TestALineThatCouldNotBeStoredIsGivenBack(t *testing.T) {
	for _, full := range []bool{true, false} {
		j, _ := newJob(t)
		if full {
			j.store = crowdedStore{j.store}
		}
		var out bytes.Buffer
		s := &promptScreen{Screen: screen.Plain(screen.Streams{In: strings.NewReader(""), Out: &out, Err: &out})}
		c := &chat{job: j, screen: s}
		th, err := c.options.open(t.Context(), j, projectThread, c.face())
		if err != nil {
			t.Fatal(err)
		}
		c.thread = th
		if err := c.obey(t.Context(), "a long thought"); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "a long thought"}[full]; s.prompt != want {
			t.Errorf("on a disk that is full: %t, the prompt has %q, want %q; the screen: %s", full, s.prompt, want, &out)
		}
		if err := th.close(t.Context(), "done"); err != nil {
			t.Error(err)
		}
	}
}

func TestRunShowsWhatWasSaidLastOnATerminal(t *testing.T) {
	st := memory.New()
	begin(t, st, "session1", "the walrus")
	for _, c := range []struct {
		terminal bool
		more     []string
		shown    bool
	}{{true, nil, true}, {true, []string{"--no-history"}, false}, {true, []string{"--json"}, false}, {false, nil, false}} {
		env, stdout, stderr := newEnv(t, shared{st})
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

// As implements [skein.Store].
func (s crowdedStore) As(u skein.User) skein.Store { return crowdedStore{s.Store.As(u)} }
