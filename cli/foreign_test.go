package cli

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/store/memory"
)

func TestTheWordsOfOtherProgramsAreUnderstood(t *testing.T) {
	env, _, _ := clitest.NewEnv(t, memory.New())
	root := newRoot(&job.Frame{Env: env})
	for typed, want := range map[string]string{
		"session list":              "list",
		"sessions":                  "list",
		"session":                   "list",
		"sessions --json":           "list --json",
		"--store x session show ab": "--store x show ab",
		"session delete ab":         "delete ab",
		"session fork ab --at-turn": "fork ab --at-turn",
		"session resume ab go on":   "resume ab go on",
		"session frobnicate":        "session frobnicate",
		"-c":                        "chat -c",
		"-s ab":                     "chat -s ab",
		"--no-pager -r ab":          "--no-pager chat -r ab",
		"--resume=ab":               "chat --resume=ab",
		"-c go on":                  "run -c go on",
		"--continue go on":          "run --continue go on",
		"-s ab go on":               "run -s ab go on",
		"-r ab --model echo":        "chat -r ab --model echo",
		"--resume=ab go on":         "run --resume=ab go on",
		"-p hello":                  "run hello",
		"-c -p hello":               "run -c hello",
		"run -p hello":              "run hello",
		"run -c -p hello":           "run -c hello",
		"run say -- -p":             "run say -- -p",
		"list":                      "list",
		"show session":              "show session",
		"--version":                 "--version",
		"--store=x":                 "--store=x",
		"":                          "",
	} {
		if got := strings.Join(understand(root, strings.Fields(typed)), " "); got != want {
			t.Errorf("understand(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestTheWordsOfOtherProgramsDoWhatTheyMean(t *testing.T) {
	st := memory.New()
	clitest.Begin(t, st, "session1", "the walrus")
	run := func(want int, args ...string) (string, string) {
		t.Helper()
		env, stdout, stderr := clitest.NewEnv(t, clitest.KeptOpen{Store: st})
		if got := Main(t.Context(), env, args); got != want {
			t.Errorf("%q exits %d, want %d; stderr: %s", args, got, want, stderr)
		}
		return stdout.String(), stderr.String()
	}
	if out, _ := run(0, "session", "list"); !strings.Contains(out, "the walrus") {
		t.Errorf("session list prints %q", out)
	}
	run(0, "session", "fork", "walrus", "--at-turn", "1", "--name", "the seal")
	if out, _ := run(0, "sessions", "show", "the seal"); !strings.Contains(out, "about the walrus") {
		t.Errorf("sessions show prints %q", out)
	}
	run(0, "delete", "the seal")
	if s, err := st.Session(t.Context(), "session1"); err != nil || s.Binned != 0 {
		t.Errorf("after delete of the fork the other one: binned at %v, %v", s.Binned, err)
	}
	run(0, "run", "--model", "echo", "--session-name", "standup", "hello")
	run(0, "show", "standup")
	if _, errs := run(fault.ExitUsage, "session", "info", "walrus"); !strings.Contains(errs, `no command "session info"`) {
		t.Errorf("session info says %q, want that there is no such command", errs)
	}
	for typed, want := range map[string]string{"grep": "search", "session frobnicate": "list", "session grep": "search", "Stats": "usage", "lsit": "list", "lis": "list", "Forkk": "fork", "undo": "fork", "trash": "list --bin", "sesion list": "list", "sesion shwo x": "show", "del": "rm", "histroy": "show"} {
		if _, errs := run(fault.ExitUsage, strings.Fields(typed)...); !strings.Contains(errs, "did you mean: skein "+want+"\n") {
			t.Errorf("%s says %q, want skein %s", typed, errs, want)
		}
	}
	if _, errs := run(fault.ExitUsage, "list", "-x"); !strings.HasPrefix(errs, "skein: no flag -x\n") {
		t.Errorf("a flag that there is not is told of as %q", errs)
	}
	if _, errs := run(fault.ExitUsage, "config", "set", "model", "echo"); !strings.Contains(errs, "config.toml") || !strings.Contains(errs, `model = "echo"`) {
		t.Errorf("who sets a setting with skein config is told %q", errs)
	}
}

func TestTheHelpOfConfigNamesEachSetting(t *testing.T) {
	help := newConfig(&job.Frame{}).Long
	for _, k := range config.Known() {
		if !strings.Contains(help, "\n  "+k.Name+" ") {
			t.Errorf("skein config --help says nothing of %s", k.Name)
		}
	}
}
