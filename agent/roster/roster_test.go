package roster

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

func TestAnAgentFileIsReadWhole(t *testing.T) {
	got, err := Parse("/a/reviewer.md", []byte("---\n"+`name: careful reviewer
description: reads a change
model: anthropic:claude-sonnet-4-5
tools: [read_file, shell]
mcp_servers:
  issues:
    command: issue-server
    args: [--read-only, "2"]
    env: {TOKEN: "${TOKEN}"}
  wiki:
    url: https://wiki.example/mcp
    headers: {X-Team: red}
subagents:
  - tester
  - {path: docs/writer.md, name: writer}
timeout: 5m
max_steps: 20
colour: blue
`+"---\n\nYou review changes.\nBe short.\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Definition{
		Path: "/a/reviewer.md", Name: "careful reviewer", Description: "reads a change",
		Model: "anthropic:claude-sonnet-4-5", Tools: []string{"read_file", "shell"},
		Servers: []Server{
			{Name: "issues", Command: "issue-server", Args: []string{"--read-only", "2"}, Env: map[string]string{"TOKEN": "${TOKEN}"}},
			{Name: "wiki", URL: "https://wiki.example/mcp", Headers: map[string]string{"X-Team": "red"}},
		},
		Subagents: []Subagent{{Path: "tester"}, {Path: "docs/writer.md", Name: "writer"}},
		Timeout:   5 * time.Minute, MaxSteps: 20, System: "You review changes.\nBe short.",
		Notes: []string{"/a/reviewer.md:19: colour: unknown setting"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestAnAgentUseFileIsReadToo(t *testing.T) {
	got, err := Parse("/a/report.agentuse", []byte("---\r\n"+strings.ReplaceAll(`model: openai:gpt-5
timeout: 90
maxSteps: 7
mcpServers:
  db: {command: db-server, requiredEnvVars: [DB_URL]}
subagents:
  - {path: ./check.agentuse, name: check}
tools:
  filesystem:
    - path: ${root}/**
      permissions: [read, write]
  bash:
    commands: ["git *"]
`, "\n", "\r\n")+"---\r\nWrite the report.\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Definition{
		Path: "/a/report.agentuse", Name: "report", Model: "openai:gpt-5", Timeout: 90 * time.Second, MaxSteps: 7,
		Servers:   []Server{{Name: "db", Command: "db-server", Env: map[string]string{"DB_URL": "${DB_URL}"}}},
		Subagents: []Subagent{{Path: "./check.agentuse", Name: "check"}},
		Tools:     []string{"read_file", "list_files", "search_files", "write_file", "shell"},
		Task:      "Write the report.",
		Notes: []string{
			"/a/report.agentuse:10: tools: filesystem: its paths are ignored; tools ask before they use files outside the session's folder",
			"/a/report.agentuse:13: tools: bash: its list of commands is ignored; the tool shell asks before it runs",
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
}

func TestWhatIsWrongInAnAgentFileIsToldWithItsLine(t *testing.T) {
	for front, want := range map[string]string{
		"name: [a]":                         `a.md:2: invalid agent file: name: want text, got a list`,
		"model: m\nname: \" \"":             `a.md:3: invalid agent file: name: empty`,
		"timeout: soon":                     `a.md:2: invalid agent file: timeout: want a time such as 90 (seconds) or 5m, got "soon"`,
		"max_steps: 0":                      `a.md:2: invalid agent file: max_steps: want a number from 1, got "0"`,
		"name: a\nname: b":                  `a.md:3: invalid agent file: `,
		"- a":                               `a.md:2: invalid agent file: the front matter: want keys and values, got a list`,
		"model: m\nb: [":                    `a.md:3: invalid agent file: `,
		"mcp_servers:\n  x: {args: [a]}":    `a.md:3: invalid agent file: mcp server x: want a command or a url`,
		"tools: {filesystem: 3}":            `a.md:2: invalid agent file: tools: filesystem: want a list, got "3"`,
		"subagents: [{}]":                   `a.md:2: invalid agent file: subagents: want a path or a name`,
		"a: &x [*x]\nname: *x":              `a.md:`,
		"mcp_servers: {x: {command: null}}": `a.md:2: invalid agent file: command: want text, got `,
	} {
		_, err := Parse("a.md", []byte("---\n"+front+"\n---\nbody"))
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Parse(%q) = %v, want %s…", front, err, want)
		}
	}
	if _, err := Parse("a.md", []byte("---\nname: a\nbody")); err == nil || !strings.Contains(err.Error(), "a.md:1: ") {
		t.Errorf("Parse of a file whose YAML has no end = %v, want an error of line 1", err)
	}
}

func TestAFileWithoutYAMLIsAllPrompt(t *testing.T) {
	for text, want := range map[string]string{"Be short.": "Be short.", "---\n---\nBe\n": "Be", "\ufeff---\n\n---\nBe": "Be", "": ""} {
		d, err := Parse("/x/a.md", []byte(text))
		if err != nil || d.System != want || d.Name != "a" {
			t.Errorf("Parse(%q) = %q of %q, %v, want %q of a", text, d.System, d.Name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ntools: [x]\nmcp_servers: {a: {command: b}}\n---\nbody")
	f.Add("---\na: &a [*a, *a]\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range []string{"a.md", "a.agentuse"} {
			if _, err := Parse(path, []byte(text)); err != nil && !errors.Is(err, skein.ErrInvalid) {
				t.Errorf("Parse(%q) = %v, want an error that wraps ErrInvalid", text, err)
			}
		}
	})
}

// write writes files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAnAgentIsFoundByNameAndByPath(t *testing.T) {
	dir := write(t, map[string]string{
		"project/a.md": "project's", "user/a.md": "user's", "user/b.md": "---\nname: bee\n---\n", "user/README.md": "---\n[",
		"user/broken.md": "---\nname: [\n---\n", "else/c.agentuse": "do it",
	})
	r := New(Options{Folders: []string{filepath.Join(dir, "none"), filepath.Join(dir, "project"), filepath.Join(dir, "user")}})
	for name, want := range map[string]string{
		"a": "project/a.md", "bee": "user/b.md", "b": "user/b.md", "else/c.agentuse": "else/c.agentuse", filepath.Join(dir, "user/a.md"): "user/a.md",
	} {
		d, err := r.Definition(name, dir)
		if want = filepath.Join(dir, filepath.FromSlash(want)); err != nil || d.Path != want {
			t.Errorf("Definition(%q) = %q, %v, want %q", name, d.Path, err, want)
		}
	}
	for _, name := range []string{"c", "c.md", "../x/y.md"} {
		if d, err := r.Definition(name, dir); !errors.Is(err, skein.ErrNotFound) {
			t.Errorf("Definition(%q) = %q, %v, want an error that wraps ErrNotFound", name, d.Path, err)
		}
	}
	if _, err := r.Definition("broken", dir); err == nil || errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Definition(broken) = %v, want what is wrong with the file", err)
	}
	all, bad, err := r.Definitions()
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	if diff := cmp.Diff([]string{"a", "bee"}, names); diff != "" || len(bad) != 1 || err != nil {
		t.Errorf("Definitions() = %v, %v, %v, want a, bee and one that is broken", names, bad, err)
	}
}

func TestAModelIsReachedWhereItsNameSays(t *testing.T) {
	env := map[string]string{
		"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GOOGLE_API_KEY": "k", "OPENROUTER_API_KEY": "k", "WORK_KEY": "k", "OLLAMA_HOST": "box:1",
	}
	r := New(Options{
		Getenv: func(name string) string { return env[name] },
		Providers: map[string]Provider{
			"work": {BaseURL: "http://gpu:1/v1", KeyEnv: []string{"WORK_KEY"}},
			"home": {BaseURL: "http://box:1/v1"}, "gate": {API: Anthropic, BaseURL: "http://gate:1", KeyEnv: []string{"WORK_KEY"}},
		},
	})
	for name, want := range map[string]string{
		"anthropic:claude-x": "anthropic:claude-x", "openai:gpt-x": "openai:gpt-x", "google:gemini-x": "google:gemini-x",
		"ollama:llama3:8b": "ollama:llama3:8b", "openrouter:a/b": "openrouter:a/b", "vllm:m": "vllm:m", "work:m": "work:m", "home:m": "home:m", "gate:claude": "gate:claude", "echo": "echo",
	} {
		m, err := r.Model(t.Context(), name)
		if err != nil {
			t.Errorf("Model(%q) = %v", name, err)
		} else if got := m.About().String(); got != want {
			t.Errorf("Model(%q) is %q, want %q", name, got, want)
		}
	}
}

// If only an unsupported API's address is set, it is neither used nor ignored.
func TestGooglesOwnAddressIsNotAskedForChat(t *testing.T) {
	env := map[string]string{"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "http://gate:1"}
	getenv := func(name string) string { return env[name] }
	_, err := New(Options{Getenv: getenv}).Model(t.Context(), "google:gemini-x")
	var no *ModelError
	if !errors.As(err, &no) || !strings.Contains(err.Error(), "GOOGLE_GEMINI_BASE_URL=http://gate:1") || !strings.Contains(no.Do, "set GOOGLE_OPENAI_BASE_URL") {
		t.Errorf("Model(google:gemini-x) with GOOGLE_GEMINI_BASE_URL = %v, want an error that names it and what to set", err)
	}
	if n := len(err.Error()); n > 120 {
		t.Errorf("the error has %d characters, want one short sentence: %v", n, err)
	}
	set := New(Options{Getenv: getenv, Providers: map[string]Provider{"google": {BaseURL: "http://gate:1/openai/"}}})
	if _, err := set.Model(t.Context(), "google:gemini-x"); err != nil {
		t.Errorf("Model(google:gemini-x) with an address of the settings = %v", err)
	}
	env["GOOGLE_OPENAI_BASE_URL"] = "http://gate:1/openai/"
	if _, err := New(Options{Getenv: getenv}).Model(t.Context(), "google:gemini-x"); err != nil {
		t.Errorf("Model(google:gemini-x) with GOOGLE_OPENAI_BASE_URL = %v", err)
	}
}

func TestWhoHasNoKeyIsToldWhereToPutIt(t *testing.T) {
	r := New(Options{})
	_, err := r.Model(t.Context(), "google:gemini-x")
	var missing *llm.NoKeyError
	if !errors.As(err, &missing) || !cmp.Equal(missing.Variables, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}) {
		t.Errorf("Model(google:gemini-x) without a key = %v, want a NoKeyError that names both variables", err)
	}
	r = New(Options{Secret: func(p string) (string, error) { return map[string]string{"google": "k"}[p], nil }})
	if _, err := r.Model(t.Context(), "google:gemini-x"); err != nil {
		t.Errorf("Model(google:gemini-x) with a key in the key ring = %v", err)
	}
}

func TestAServerWithoutAKeyGetsNoneWhateverItSpeaks(t *testing.T) {
	for _, api := range APIs() {
		var got http.Header
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Clone()
			http.Error(w, "no", http.StatusBadRequest)
		}))
		defer s.Close()
		r := New(Options{Getenv: func(string) string { return "k" }, Providers: map[string]Provider{"mine": {API: api, BaseURL: s.URL}}})
		p, err := r.Model(t.Context(), "mine:m")
		if err != nil {
			t.Errorf("Model of a server that speaks %s, without a key = %v", api, err)
			continue
		}
		for _, err := range p.Stream(t.Context(), llm.Request{Messages: []skein.Message{skein.UserSays("hi")}}) {
			if err == nil {
				t.Errorf("%s: a request that is turned down has no error", api)
			}
		}
		if got == nil || got.Get("Authorization") != "" || got.Get("X-Api-Key") != "" || got.Get("X-Goog-Api-Key") != "" {
			t.Errorf("%s: the server got the headers %v, want some, and no key", api, got)
		}
	}
}

func TestANameThatIsNoModelTellsWhatThereIs(t *testing.T) {
	r := New(Options{Getenv: func(string) string { return "k" }})
	for name, want := range map[string]string{
		"":                "no name is given",
		"gemni:x":         `there is no provider "gemni"; want one of anthropic:MODEL, `,
		"claude-opus-4":   "such as anthropic:claude-opus-4",
		"openai:":         "which model of openai? want openai:MODEL",
		"replay:whatever": "no sessions can be replayed here",
	} {
		if _, err := r.Model(t.Context(), name); err == nil || !errors.Is(err, llm.ErrModel) || !strings.Contains(err.Error(), want) {
			t.Errorf("Model(%q) = %v, want %s", name, err, want)
		}
	}
}

func TestOllamaIsFoundWhereverItsHostSays(t *testing.T) {
	for host, want := range map[string]string{
		"box": "http://box:11434/v1", "box:1": "http://box:1/v1", "0.0.0.0:1": "http://localhost:1/v1", "0.0.0.0": "http://localhost:11434/v1",
		"https://box": "https://box/v1", "http://box:1/api/": "http://box:1/api", "http://localhost:11434/v1": "http://localhost:11434/v1",
	} {
		if got := ollamaURL(host); got != want {
			t.Errorf("ollamaURL(%q) = %q, want %q", host, got, want)
		}
	}
}

func TestAnAgentIsPutTogetherWithItsSubagents(t *testing.T) {
	dir := write(t, map[string]string{
		"lead.md":   "---\nmodel: echo\ntools: [shell]\nsubagents: [writer.md]\ntimeout: 9\nmax_steps: 3\n---\nLead.",
		"writer.md": "---\ndescription: writes\nsubagents: [lead.md]\ntools: []\n---\nWrite.",
		"wrong.md":  "---\nmodel: echo\ntools: [hammer]\n---\n",
		"lost.md":   "---\nmodel: echo\nsubagents: [nobody.md]\n---\n",
	})
	r := New(Options{CompactAfter: 7, Window: func(string, string) int64 { return 1000 }})
	ready := func(name string) (*Team, error) {
		d, err := r.Definition(name, dir)
		if err != nil {
			t.Fatal(err)
		}
		return r.Ready(t.Context(), d, "")
	}
	team, err := ready("lead.md")
	if err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, one := range team.Tools {
		tools = append(tools, one.Spec.Name)
	}
	if diff := cmp.Diff([]string{"shell", "delegate"}, tools); diff != "" {
		t.Errorf("the tools of lead (-want +got):\n%s", diff)
	}
	if team.Name != "lead" || team.System != "Lead." || team.Timeout != 9*time.Second || team.MaxSteps != 3 || team.CompactAfter != 7 || team.Window != 1000 || team.Profile != filepath.Join(dir, "lead.md") {
		t.Errorf("the agent of lead.md is %+v, want what its file says", team.Agent)
	}
	if err := team.Close(); err != nil {
		t.Error(err)
	}
	writer, err := r.Definition("writer.md", dir)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := r.helpers(t.Context(), &Team{places: new(int)}, writer, "echo", []string{team.Profile, writer.Path}); err != nil || len(back) > 0 {
		t.Errorf("a subagent can hand work back to the agent that it has it from: %+v, %v", back, err)
	}
	if _, err := ready("wrong.md"); err == nil || !strings.Contains(err.Error(), `tool "hammer"`) {
		t.Errorf("Ready(wrong.md) = %v, want an error that names the tool", err)
	}
	if _, err := ready("lost.md"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Ready(lost.md) = %v, want one that wraps ErrNotFound", err)
	}
}
