//go:build programs

package main

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/llm/llmtest"
)

// agentsFolder is where scripts/agents has installed the agents.
func agentsFolder(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SKEIN_AGENTS")
	if dir == "" {
		t.Fatal("SKEIN_AGENTS is not set: scripts/agents FOLDER installs the agents there")
	}
	return filepath.Join(dir, "node_modules")
}

// An agentHome is the home of a person with agents, and this program for them.
type agentHome struct {
	*testing.T
	home, skein string
	env         []string
}

func newAgentHome(t *testing.T, env ...string) *agentHome {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &agentHome{T: t, home: home, skein: filepath.Join(home, "bin", "skein")}
	d.env = append([]string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"), "TERM=dumb",
		"GIT_AUTHOR_NAME=ada", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=a@b",
	}, env...)
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", d.skein, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return d
}

func (d *agentHome) file(name, text string, mode os.FileMode) {
	d.Helper()
	path := filepath.Join(d.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		d.Fatal(err)
	}
}

// agentWait bounds what hangs: an agent starts in seconds, but in minutes on a machine that
// has much else to do.
const agentWait = 10 * time.Minute

// command returns a command at the desk.
func (d *agentHome) command(dir string, words ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(d.Context(), agentWait)
	d.Cleanup(cancel)
	program := words[0]
	if path := filepath.Join(os.Getenv("SKEIN_AGENTS"), "node_modules", ".bin", program); !filepath.IsAbs(program) && exists(path) {
		program = path
	}
	c := exec.CommandContext(ctx, program, words[1:]...)
	c.Dir, c.Env = filepath.Join(d.home, dir), d.env
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 10 * time.Second
	return c
}

// run runs a command, which must succeed, and returns what it prints.
func (d *agentHome) run(dir string, words ...string) string {
	d.Helper()
	out, err := d.command(dir, words...).CombinedOutput()
	if err != nil {
		d.Fatalf("%s in %s: %v\n%s", strings.Join(words, " "), dir, err, out)
	}
	return string(out)
}

// A listedSession is a session as skein list --json has it.
type listedSession struct {
	ID, Agent  string
	LastPrompt string `json:"last_prompt"`
	Checkout   struct{ Repository, Branch, Commit string }
	Parent     struct{ Session, Why string }
}

func (d *agentHome) sessions(flags ...string) (all []listedSession) {
	d.Helper()
	for line := range strings.Lines(d.run("", append([]string{d.skein, "list", "--all", "--json"}, flags...)...)) {
		var s listedSession
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			d.Fatalf("list: %v\n%s", err, line)
		}
		all = append(all, s)
	}
	return all
}

// A realAgent is an agent as its users run it.
type realAgent struct {
	format string
	serve  func(testing.TB, ...llmtest.Reply) *llmtest.Server
	env    func(url string) []string
	files  func(url string) map[string]string // its settings, below the home folder
	ask    func(prompt string) []string
	resume func(prompt string) []string
	// delegate returns the calls of the model that has a task done by a sub-agent, and of
	// the sub-agent that does it; nil if the agent has no sub-agents
	delegate func(task string) []skein.Call
	silent   bool // its records do not say which commit is checked out, or not even which branch
}

func realAgents() []realAgent {
	none := func(string) []string { return nil }
	calls := func(tool, input string, more ...skein.Call) func(string) []skein.Call {
		return func(task string) []skein.Call {
			return append([]skein.Call{{ID: "toolu_1", Name: tool, Input: []byte(strings.ReplaceAll(input, "TASK", task))}}, more...)
		}
	}
	words := func(all ...string) func(string) []string {
		return func(prompt string) []string { return append(append([]string(nil), all...), prompt) }
	}
	return []realAgent{
		{
			"claude-code", llmtest.Anthropic,
			func(url string) []string {
				return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + llmtest.Key, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
			},
			func(string) map[string]string {
				return map[string]string{".claude/settings.json": "{\n  \"model\": \"claude-sonnet-4-5\"\n}\n", ".claude/keep": ""}
			},
			words("claude", "-p"), words("claude", "-c", "-p"),
			calls("Agent", `{"description": "a part", "prompt": "TASK", "subagent_type": "general-purpose"}`), true,
		},
		{
			"codex", llmtest.OpenAI,
			func(string) []string { return []string{"TEST_KEY=" + llmtest.Key} },
			func(url string) map[string]string {
				return map[string]string{".codex/config.toml": "model = \"gpt-5\" # mine\nmodel_provider = \"test\"\n\n[model_providers.test]\nname = \"test\"\nbase_url = \"" + url + "\"\nenv_key = \"TEST_KEY\"\nwire_api = \"responses\"\n"}
			},
			words("codex", "exec", "--dangerously-bypass-hook-trust"), words("codex", "exec", "resume", "--dangerously-bypass-hook-trust", "--last"),
			calls("multi_agent_v1.spawn_agent", `{"message": "TASK"}`), false,
		},
		{
			"opencode", llmtest.Anthropic,
			func(string) []string {
				return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"}
			},
			func(url string) map[string]string {
				return map[string]string{".config/opencode/opencode.jsonc": `{
  "model": "anthropic/claude-sonnet-4-5", // mine
  "provider": {"anthropic": {"options": {"baseURL": "` + url + `/v1", "apiKey": "` + llmtest.Key + `"}}},
}
`}
			},
			words("opencode", "run"), words("opencode", "run", "-c"),
			calls("task", `{"description": "a part", "prompt": "TASK", "subagent_type": "general"}`), true,
		},
		{
			"pi", llmtest.Anthropic, none,
			func(url string) map[string]string {
				return map[string]string{".pi/agent/models.json": `{"providers": {"test": {"baseUrl": "` + url + `", "api": "anthropic-messages", "apiKey": "` + llmtest.Key + `", "models": [{"id": "m"}]}}}`}
			},
			words("pi", "--provider", "test", "--model", "m", "-p"), words("pi", "--provider", "test", "--model", "m", "-c", "-p"), nil, true,
		},
		{
			"gemini", llmtest.Gemini,
			func(url string) []string {
				return []string{"GEMINI_API_KEY=" + llmtest.Key, "GOOGLE_GEMINI_BASE_URL=" + strings.TrimSuffix(url, "/v1beta"), "GEMINI_CLI_NO_RELAUNCH=true"}
			},
			func(string) map[string]string {
				return map[string]string{".gemini/settings.json": `{
  "security": {"auth": {"selectedType": "gemini-api-key"}}, // mine
  "privacy": {"usageStatisticsEnabled": false}
}
`}
			},
			words("gemini", "--skip-trust", "-m", "gemini-2.5-flash", "-p"), words("gemini", "--skip-trust", "-m", "gemini-2.5-flash", "-r", "latest", "-p"),
			calls("invoke_agent", `{"agent_name": "generalist", "prompt": "TASK"}`,
				skein.Call{ID: "toolu_2", Name: "complete_task", Input: []byte(`{"result": {"response": "Done."}}`)}), true,
		},
	}
}

// Each agent is set up, runs, delegates, is killed and resumed in two clones and a
// worktree of a repository. All of it is stored, once, under that repository, now says
// that it works while it does, and undo leaves each file as it was.
func TestRealAgentsAreKept(t *testing.T) {
	for _, a := range realAgents() {
		t.Run(a.format, func(t *testing.T) { a.isKept(t) })
	}
}

func (a *realAgent) isKept(t *testing.T) {
	s := a.serve(t)
	s.Lax()
	s.Otherwise(llmtest.Says("Gladly."))
	d := newAgentHome(t, append(a.env(s.URL), "PATH="+filepath.Join(agentsFolder(t), ".bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))...)
	before := a.files(s.URL)
	for name, text := range before {
		d.file(name, text, 0o600)
	}
	d.repository()
	d.run("", d.skein, "setup", "--yes", "--except", "service")
	watch := d.command("", d.skein, "import", "--watch")
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	last := "again in "
	if a.delegate != nil {
		last = "delegate in "
	}
	folders := map[string]string{"one": "main", "two": "main", "side": "side"}
	for dir := range folders {
		d.run(dir, a.ask("first in "+dir)...)
		a.killed(d, s, dir)
		d.run(dir, a.resume("again in "+dir)...)
		a.delegates(d, s, dir) // at the end: Codex takes a sub-agent's session for the last one
	}
	commit := strings.TrimSpace(d.run("one", "git", "rev-parse", "HEAD"))
	d.until("every session is stored, in its repository", func() bool {
		found := map[string]listedSession{}
		for _, x := range d.sessions() {
			prompt := strings.Trim(x.LastPrompt, `"`) // opencode run quotes one of several words
			if _, twice := found[prompt]; twice {
				t.Fatalf("%q is the last prompt of two sessions: %+v", prompt, d.sessions())
			}
			found[prompt] = x
		}
		children := map[string]int{}
		for _, x := range d.sessions("--children") {
			if x.Parent.Why == "child" && x.Checkout.Repository == "github.com/ada/tea" {
				children[x.Parent.Session]++
			}
		}
		for dir, branch := range folders {
			x, ok := found[last+dir]
			if !ok || x.Checkout.Repository != "github.com/ada/tea" || x.Checkout.Branch != branch && (!a.silent || x.Checkout.Branch != "") || !a.silent && x.Checkout.Commit != commit {
				return false
			}
			if a.delegate != nil && children[x.ID] != 1 {
				return false
			}
		}
		return true
	})
	d.until("nothing works any more", func() bool { return !slices.Contains(slices.Collect(maps.Values(d.now())), skein.StateWorking) })
	all, err := hooknews.At(filepath.Join(d.home, ".local/state/skein")).All()
	if err != nil || len(all) == 0 || all[0].Agent != a.format {
		t.Errorf("the hooks told %+v, %v", all, err)
	}
	if err := syscall.Kill(-watch.Process.Pid, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	_ = watch.Wait()
	d.run("", d.skein, "setup", "--undo")
	for name, text := range before {
		if b, err := os.ReadFile(filepath.Join(d.home, name)); err != nil || a.grown(string(b)) != a.grown(text) {
			t.Errorf("after undo, %s is %v\n%s\nwant\n%s", name, err, b, text)
		}
	}
}

// grown returns settings without what the agent itself wrote there meanwhile.
func (a *realAgent) grown(text string) string {
	if a.format == "codex" {
		text, _, _ = strings.Cut(text, "\n[projects.")
	}
	return strings.TrimRight(text, "\n")
}

// repository makes two clones and a worktree of one repository.
func (d *agentHome) repository() {
	d.Helper()
	d.file("one/README", "tea", 0o600)
	for _, words := range []string{
		"git init -q -b main .", "git add README", "git commit -qm tea", "git clone -q . ../two", "git worktree add -q -b side ../side",
		"git remote add origin https://github.com/ada/tea.git", "git -C ../two remote set-url origin git@github.com:ada/tea.git",
	} {
		d.run("one", strings.Fields(words)...)
	}
}

// killed kills the agent in the middle of an answer.
func (a *realAgent) killed(d *agentHome, s *llmtest.Server, dir string) {
	d.Helper()
	never := make(chan struct{})
	defer close(never)
	s.Otherwise(llmtest.Holds(llmtest.Says("Gladly."), 1, never))
	defer s.Otherwise(llmtest.Says("Gladly."))
	n := len(s.Requests())
	c := d.command(dir, a.resume("killed in "+dir)...)
	if err := c.Start(); err != nil {
		d.Fatal(err)
	}
	d.until("the agent asks its model", func() bool { return len(s.Requests()) > n })
	d.until("now says that it works", func() bool { return d.now()[dir] == skein.StateWorking })
	if err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL); err != nil {
		d.Error(err)
	}
	_ = c.Wait()
}

// delegates lets the agent have a part of its work done by a sub-agent.
func (a *realAgent) delegates(d *agentHome, s *llmtest.Server, dir string) {
	d.Helper()
	if a.delegate == nil {
		return
	}
	prompt, task := "delegate in "+dir, "a part in "+dir
	all := a.delegate(task)
	tool, _, _ := strings.Cut(all[0].Name, ".")
	s.When(llmtest.Calls(all[0]), prompt, `"`+tool+`"`) // a request for a title offers no tools
	for _, c := range all[1:] {
		s.When(llmtest.Calls(c), task, `"`+c.Name+`"`)
	}
	d.run(dir, a.resume(prompt)...)
}

// now returns what now says of the newest session of each folder.
func (d *agentHome) now() map[string]skein.WorkState {
	d.Helper()
	all := map[string]skein.WorkState{}
	for line := range strings.Lines(d.run("", d.skein, "now", "--json")) {
		var is struct {
			Project, Parent string
			State           skein.WorkState
		}
		if err := json.Unmarshal([]byte(line), &is); err != nil {
			d.Fatalf("now: %v\n%s", err, line)
		}
		if _, newer := all[filepath.Base(is.Project)]; !newer && is.Parent == "" {
			all[filepath.Base(is.Project)] = is.State
		}
	}
	return all
}

// until waits until something is true.
func (d *agentHome) until(what string, is func() bool) {
	d.Helper()
	for end := time.Now().Add(agentWait); !is(); {
		if time.Now().After(end) {
			d.Fatalf("it never came that %s: %+v\n%s", what, d.sessions(), d.run("", "sh", "-c", "find . -newer one/README -type f | grep -v /bin/ | head -100"))
		}
		if err := sleep.For(d.Context(), 100*time.Millisecond); err != nil {
			d.Fatal(err)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
