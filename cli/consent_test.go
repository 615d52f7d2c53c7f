package cli

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/store/memory"
)

// walrus returns a store with a session that could be meant by a part of its title,
// by the folder, and by the time.
func walrus(t *testing.T) skein.Store {
	t.Helper()
	st := memory.New()
	created := skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "Feed the walrus", Project: "/src/zoo", Key: "cli:zoo"})
	forked := skein.NewEvent(skein.KindCreated, 3, skein.Created{Title: "Other food", Parent: &skein.Parent{Session: "session1", Seq: 2, Why: skein.Fork}})
	for id, events := range map[skein.SessionID][]skein.Event{
		"session1": {created, skein.Say(2, skein.UserSays("It is hungry. DB_PASSWORD=hunter2!correct"))},
	} {
		if _, err := skein.Add(t.Context(), st, id, events...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := skein.Add(t.Context(), st, "fork2222", forked); err != nil {
		t.Fatal(err)
	}
	return st
}

// destroying returns the commands that destroy a session for good.
func destroying(name string) [][]string {
	return [][]string{
		{"rm", name, "--purge"},
		{"scrub", name, "--found"},
		{"clear", name, "--log"},
	}
}

func TestNothingIsDestroyedByAPartOfANameOrByAWord(t *testing.T) {
	for _, name := range []string{"walrus", "Feed the", "-", "last", "hungry", "ion1"} {
		for _, args := range destroying(name) {
			st := walrus(t)
			env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
			env.Getwd = func() (string, error) { return "/src/zoo", nil }
			got := Main(t.Context(), env, append(args, "--yes"))
			if got != fault.ExitUsage && got != fault.ExitNotFound {
				t.Errorf("%q exits %d, want 2 or 3; stderr: %s", args, got, stderr)
			}
			if got == fault.ExitUsage && !strings.Contains(stderr.String(), "give its ID, its key or its whole title\ndid you mean:\n") {
				t.Errorf("%q says %q, want what names it", args, stderr)
			}
			if s, err := st.Session(t.Context(), "session1"); err != nil || s.Last != 2 {
				t.Errorf("%q: the session is %+v, %v; want it as it was", args, s, err)
			}
		}
	}
}

func TestWhatIsDestroyedIsNamedAndAskedFor(t *testing.T) {
	for _, name := range []string{"session1", "cli:zoo", "feed the WALRUS"} {
		for _, c := range []struct {
			answer   string // "-": without a terminal
			more     []string
			code     int
			says     string
			destroys bool
		}{
			{"-", nil, fault.ExitUsage, "without a terminal to ask on, this needs --yes", false},
			{"n\n", nil, fault.ExitDone, "Destroy 1 session for good? [y/N] nothing was done\n", false},
			{"\n", nil, fault.ExitDone, "nothing was done\n", false},
			{"", nil, fault.ExitDone, "nothing was done\n", false},
			{"y\n", []string{"--dry-run"}, fault.ExitDone, "nothing was done: 1 session would be destroyed\n", false},
			{"-", []string{"--dry-run", "--yes"}, fault.ExitDone, "nothing was done: 1 session would be destroyed\n", false},
			{"y\n", nil, fault.ExitDone, "is destroyed", true},
		} {
			st := walrus(t)
			env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
			env.Terminal.In, env.Stdin = c.answer != "-", strings.NewReader(c.answer)
			args := append([]string{"rm", name, "--purge"}, c.more...)
			if got := Main(t.Context(), env, args); got != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("%q answered %q exits %d, want %d and %q; stderr: %s", args, c.answer, got, c.code, c.says, stderr)
			}
			if want := "session1 \"Feed the walrus\", /src/zoo, 1 message; its forks keep what they show of it: fork2222\n"; !strings.HasPrefix(stderr.String(), want) {
				t.Errorf("%q says %q, want first %q", args, stderr, want)
			}
			if _, err := st.Session(t.Context(), "session1"); sessions.Gone(err) != c.destroys {
				t.Errorf("%q answered %q: the session: %v; want it gone: %t", args, c.answer, err, c.destroys)
			}
		}
	}
}

func TestEveryCommandThatDestroysWantsYesWithoutATerminal(t *testing.T) {
	for _, args := range append(destroying("session1"), []string{"prune", "--purge", "--older-than", "1d"}, []string{"key", "anthropic", "--remove"}) {
		st := walrus(t)
		env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		ring := keys{"anthropic": "sk-secret"}
		env.KeyRing = ring
		if args[0] == "clear" {
			if got := Main(t.Context(), env, []string{"run", "-r", "session1", "--model", "echo", "hello"}); got != 0 {
				t.Fatalf("run exits %d; stderr: %s", got, stderr)
			}
		}
		before, err := st.Session(t.Context(), "session1")
		if err != nil {
			t.Fatal(err)
		}
		stderr.Reset()
		if got := Main(t.Context(), env, args); got != fault.ExitUsage || !strings.Contains(stderr.String(), "without a terminal to ask on, this needs --yes\n") {
			t.Errorf("%q exits %d, want 2; stderr: %s", args, got, stderr)
		}
		after, err := st.Session(t.Context(), "session1")
		if err != nil || after.Last != before.Last || len(ring) == 0 {
			t.Errorf("%q without --yes: %v, the session ends at %d, it did at %d; the key ring has %v", args, err, after.Last, before.Last, ring)
		}
	}
}

func TestTheBinIsNotAskedFor(t *testing.T) {
	st := walrus(t)
	env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
	if got := Main(t.Context(), env, []string{"rm", "walrus"}); got != 0 {
		t.Errorf("rm without --purge exits %d, want 0; stderr: %s", got, stderr)
	}
	if s, err := st.Session(t.Context(), "session1"); err != nil || s.Binned == 0 {
		t.Errorf("after rm it is binned at %v, %v; want it in the bin", s.Binned, err)
	}
}
