package cli

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/store/memory"
)

func TestListsShowTheColumnsAPersonWants(t *testing.T) {
	st := memory.New()
	long := strings.Repeat("long ", 1000)
	for id, c := range map[skein.SessionID]skein.Created{
		"session1": {Title: long, Agent: long, Surface: "cli", Project: "/" + long, Key: "cli:zoo"},
		"session2": {Title: "short", Surface: "telegram", Key: "telegram:bot:1"},
	} {
		if _, err := skein.Add(t.Context(), st, id, skein.NewEvent(skein.KindCreated, 1, c), skein.Say(2, skein.UserSays(long))); err != nil {
			t.Fatal(err)
		}
	}
	list := func(args ...string) string {
		t.Helper()
		env, stdout, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		if got := Main(t.Context(), env, append([]string{"list"}, args...)); got != 0 {
			t.Fatalf("list %q exits %d: %s", args, got, stderr)
		}
		return stdout.String()
	}
	out := list()
	for line := range strings.Lines(out) {
		if n := len([]rune(line)); n > terminal.Piped+1 {
			t.Errorf("list in a pipe has a line of %d characters, want it cut", n)
		}
	}
	if !strings.Contains(out, "SURFACE") || !strings.Contains(out, "telegram") || strings.Contains(out, "cli:zoo") {
		t.Errorf("list prints\n%s\nwant the surfaces, as there are two, and no keys", out)
	}
	if out := list("--wide"); !strings.Contains(out, strings.TrimSpace(long)) {
		t.Error("list --wide cuts a title")
	}
	if out := list("--json"); !strings.Contains(out, long) {
		t.Error("list --json cuts a title")
	}
	if out := list("--columns", "key,id"); !strings.HasPrefix(out, "KEY             ID\n") || !strings.Contains(out, "cli:zoo         session1\n") {
		t.Errorf("list --columns key,id prints\n%s", out)
	}
	env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
	if out := list("--columns", "cost,id"); !strings.HasPrefix(out, "COST  ID\n") {
		t.Errorf("list --columns cost,id, where nothing cost anything, prints\n%s", out)
	}
	if got := Main(t.Context(), env, []string{"list", "--columns", "colour"}); got != fault.ExitUsage || !strings.Contains(stderr.String(), `no column "colour": there are id, marks, title,`) {
		t.Errorf("list --columns colour exits %d: %s", got, stderr)
	}
}

func TestNoTableIsAsWideAsALongTitle(t *testing.T) {
	st := memory.New()
	long := strings.Repeat("long ", 1000)
	said := skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart("yes")}, Provider: "p", Model: "m", Usage: &skein.Usage{Input: 1}}
	for _, id := range []skein.SessionID{"session1", "session2"} {
		if _, err := skein.Add(t.Context(), st, id, skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: long, Agent: long, Project: "/" + long}), skein.Say(2, skein.UserSays(long)), skein.Say(3, said)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"list --all", "tree session1", "usage --by session", "fork session1", "prune --older-than 1d --dry-run", "search long"} {
		env, stdout, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		if got := Main(t.Context(), env, strings.Fields(args)); got != 0 && !strings.HasPrefix(args, "fork") {
			t.Fatalf("%s exits %d: %s", args, got, stderr)
		}
		if stdout.Len() == 0 {
			t.Errorf("%s prints nothing: %s", args, stderr)
		}
		for line := range strings.Lines(stdout.String()) {
			if n := len([]rune(line)); n > terminal.Piped+1 && !strings.HasPrefix(line, "  user: ") { // what was found stays on one line
				t.Errorf("%s in a pipe has a line of %d characters, want it cut: %.100s", args, n, line)
			}
		}
		for _, terminal := range []config.TerminalInfo{{}, {Out: true, Width: 60, Height: 100}} {
			env, stdout, stderr = clitest.NewEnv(t, clitest.KeptOpen{Store: st})
			env.Terminal = terminal
			Main(t.Context(), env, append(strings.Fields(args), "--wide", "--no-pager"))
			if !strings.Contains(stdout.String(), strings.TrimSpace(long)) {
				t.Errorf("%s --wide cuts the title where the terminal is %v: %.300s %s", args, terminal, stdout, stderr)
			}
		}
	}
}

func TestEveryCommandThatPrintsATableShowsItWhole(t *testing.T) {
	env, _, _ := clitest.NewEnv(t, clitest.KeptOpen{Store: memory.New()})
	for _, path := range []string{"", "list", "tree", "usage", "fork", "prune", "search", "agents", "import", "key", "scan", "restore-backup", "convert", "token list", "token logins", "user list"} {
		c, _, err := newRoot(&job.Frame{Env: env}).Find(strings.Fields(path))
		if err != nil || c.Flags().Lookup("wide") == nil {
			t.Errorf("skein %s has no --wide (%v)", path, err)
		}
	}
}

func TestATitleThatIsGivenHereIsBounded(t *testing.T) {
	st := memory.New()
	clitest.Begin(t, st, "session1", "the walrus")
	long := strings.Repeat("ü", 5000)
	for _, args := range [][]string{{"rename", "session1", long}, {"fork", "session1", "--turn", "1", "--title", long}} {
		env, _, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		if got := Main(t.Context(), env, args); got != 0 {
			t.Fatalf("%s exits %d: %s", args[0], got, stderr)
		}
	}
	for s, err := range st.Sessions(t.Context(), skein.Filter{}) {
		if n := len([]rune(s.Title)); err != nil || n != skein.MaxTitle {
			t.Errorf("session %s has a title of %d characters, %v; want %d", s.ID, n, err, skein.MaxTitle)
		}
	}
}
