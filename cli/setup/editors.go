package setup

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/internal/jsonedit"
)

// An ACPAgent is an agent that speaks the Agent Client Protocol.
type ACPAgent struct {
	Word    string   // what it is called on the command line
	Name    string   // for people
	Command []string // its program and arguments
	Install string   // how its program is installed
}

// acpAgents are the agents with a word of their own, as their documentation says how they
// are started.
var acpAgents = []ACPAgent{
	{"claude", "Claude Code", []string{"claude-agent-acp"}, "npm install -g @agentclientprotocol/claude-agent-acp"},
	{"codex", "Codex", []string{"codex-acp"}, "npm install -g @agentclientprotocol/codex-acp"},
	{"copilot", "Copilot", []string{"copilot", "--acp"}, "npm install -g @github/copilot"},
	{"cursor", "Cursor", []string{"cursor-agent", "acp"}, "see cursor.com/cli"},
	{"gemini", "Gemini CLI", []string{"gemini", "--acp"}, "npm install -g @google/gemini-cli"},
	{"goose", "goose", []string{"goose", "acp"}, "see block.github.io/goose"},
	{"opencode", "OpenCode", []string{"opencode", "acp"}, "npm install -g opencode-ai"},
	{"pi", "pi", []string{"pi-acp"}, "npm install -g pi-acp"},
	{"qwen", "Qwen Code", []string{"qwen", "--acp"}, "npm install -g @qwen-code/qwen-code"},
}

// ownACPAgent is skein's own agent, which skein acp starts if it is given no word.
var ownACPAgent = ACPAgent{Word: "skein", Name: "skein"}

func (a ACPAgent) isOwn() bool { return a.Word == ownACPAgent.Word }

// FindACPAgent returns the agent of another program with a word.
func FindACPAgent(word string) (ACPAgent, bool) {
	i := slices.IndexFunc(acpAgents, func(a ACPAgent) bool { return a.Word == word })
	if i < 0 {
		return ACPAgent{}, false
	}
	return acpAgents[i], true
}

// Missing is the error that says that the agent's program is not on the PATH.
func (a ACPAgent) Missing() error {
	return fault.Advise(fault.Missing("%s speaks the Agent Client Protocol through the program %s, which is not on the PATH", a.Name, a.Command[0]), "install it: %s", a.Install)
}

// title returns what editors call the agent, to tell it from the same one without skein.
func (a ACPAgent) title() string {
	if a.isOwn() {
		return a.Name
	}
	return a.Name + " (skein)"
}

// key returns what editors call the agent where they want one word.
func (a ACPAgent) key(between string) string {
	if a.isOwn() {
		return a.Word
	}
	return "skein" + between + a.Word
}

// An editorProgram is an editor that speaks the Agent Client Protocol, and how it is told
// which agents there are.
type editorProgram struct {
	Word string
	Edit func(m computer, all []ACPAgent) []fileEdit
}

// editors are the editors that can be told, as their documentation says where they keep
// their configuration.
var editors = []editorProgram{
	{"acpx", func(m computer, all []ACPAgent) []fileEdit {
		return entries(all, m.at("", ".acpx", "config.json"), func(a ACPAgent) jsonedit.Addition {
			return jsonedit.Addition{Path: []string{"agents", a.key("-")}, Value: []byte(text(struct {
				Argv []string `json:"argv"`
			}{m.acp(a)}))}
		})
	}},
	{"jetbrains", func(m computer, all []ACPAgent) []fileEdit {
		return entries(all, m.at("", ".jetbrains", "acp.json"), func(a ACPAgent) jsonedit.Addition {
			return m.entry("agent_servers", "", a)
		})
	}},
	{"neovim", func(m computer, all []ACPAgent) (edits []fileEdit) {
		for _, a := range all {
			edits = append(edits, fileEdit{What: a.Name, Path: filepath.Join(m.nvim(), "after", "plugin", a.key("_")+".lua"), Text: m.lua(a)})
		}
		return edits
	}},
	{"vscode", func(m computer, all []ACPAgent) []fileEdit {
		return entries(all, filepath.Join(m.settings("Code"), "User", "settings.json"), func(a ACPAgent) jsonedit.Addition {
			return m.entry("acp.agents", "", a)
		})
	}},
	{"zed", func(m computer, all []ACPAgent) []fileEdit {
		dir := filepath.Join(m.Config, "zed")
		if m.OS == "windows" {
			dir = m.settings("Zed")
		}
		return entries(all, filepath.Join(dir, "settings.json"), func(a ACPAgent) jsonedit.Addition {
			return m.entry("agent_servers", "custom", a)
		})
	}},
}

// Editors are the words for the editors that [InstallACP] knows.
func Editors() (words []string) {
	for _, e := range editors {
		words = append(words, e.Word)
	}
	return words
}

// entries returns one edit of a file for each agent.
func entries(all []ACPAgent, path string, entry func(ACPAgent) jsonedit.Addition) (edits []fileEdit) {
	for _, a := range all {
		edits = append(edits, fileEdit{What: a.Name, Path: path, JSON: []jsonedit.Addition{entry(a)}})
	}
	return edits
}

// acp returns the command that an editor is to start for an agent.
func (m computer) acp(a ACPAgent) []string {
	if a.isOwn() {
		return m.command("acp")
	}
	return m.command("acp", a.Word)
}

// entry returns the entry of an agent, in the form that most editors read.
func (m computer) entry(member, kind string, a ACPAgent) jsonedit.Addition {
	cmd := m.acp(a)
	return jsonedit.Addition{Path: []string{member, a.title()}, Value: []byte(text(mcpEntry{Type: kind, Command: cmd[0], Args: cmd[1:]}))}
}

// settings returns the folder where a program of this name keeps its settings on this
// system.
func (m computer) settings(name string) string {
	switch m.OS {
	case "windows":
		return m.at("APPDATA", "AppData/Roaming", name)
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support", name)
	}
	return filepath.Join(m.Config, name)
}

// nvim returns the folder of Neovim's configuration.
func (m computer) nvim() string {
	if m.OS == "windows" {
		return m.at("LOCALAPPDATA", "AppData/Local", "nvim")
	}
	return filepath.Join(m.Config, "nvim")
}

// companions are the adapters of CodeCompanion for agents whose own is more than a
// command.
var companions = map[string]string{"claude": "claude_code", "codex": "codex", "gemini": "gemini_cli"}

// lua returns a file that gives CodeCompanion an agent once Neovim has loaded it. Its
// configuration is a program, which cannot be edited.
func (m computer) lua(a ACPAgent) string {
	base := companions[a.Word]
	if base == "" {
		base = "opencode"
	}
	var command []string
	for _, w := range m.acp(a) {
		command = append(command, text(w))
	}
	return `-- skein acp --install neovim wrote this, and takes it away with --undo. It adds an
-- agent to CodeCompanion whose sessions skein keeps.
local function add()
  local ok, config = pcall(require, "codecompanion.config")
  if not (ok and config.adapters and config.adapters.acp) then
    return
  end
  config.adapters.acp[` + text(a.key("_")) + `] = function()
    return require("codecompanion.adapters").extend(` + text(base) + `, {
      name = ` + text(a.key("_")) + `,
      formatted_name = ` + text(a.title()) + `,
      commands = { default = { ` + strings.Join(command, ", ") + ` } },
    })
  end
end

if package.loaded["codecompanion.config"] then
  add()
else
  vim.api.nvim_create_autocmd("User", {
    pattern = "LazyLoad",
    callback = function(event)
      if event.data == "codecompanion.nvim" then
        add()
      end
    end,
  })
end
`
}

// An ACPInstall is what is entered in the configuration of an editor.
type ACPInstall struct {
	Editor string
	Agents []string // the words of agents; none means those whose programs are here
	Undo   bool     // take them back instead
	job.Consent
}

// InstallACP enters agents in the configuration of an editor, each started through
// skein acp, or takes them back. It asks first.
//
// The error wraps fault.ErrUsage if the editor or an agent is unknown, and
// [skein.ErrNotFound] if an agent is not here.
func InstallACP(ctx context.Context, j *job.Job, in *ACPInstall) error {
	i := slices.IndexFunc(editors, func(e editorProgram) bool { return e.Word == in.Editor })
	if i < 0 {
		return fault.Usage("%q is no editor that skein can configure; it can configure %s", in.Editor, strings.Join(Editors(), ", "))
	}
	o := options{undo: in.Undo, Consent: in.Consent}
	done, err := readJournal(filepath.Join(j.Dirs.State, "setup.json"))
	if err != nil {
		return err
	}
	var agents []ACPAgent
	for _, w := range in.Agents {
		a, known := FindACPAgent(w)
		if w == ownACPAgent.Word {
			a, known = ownACPAgent, true
		}
		if !known {
			return fault.Usage("%q is no agent with a word of its own; those with one are %s, %s", w, ACPWords(), ownACPAgent.Word)
		}
		agents = append(agents, a)
	}
	if in.Undo {
		return o.takeBack(ctx, j, done, func(d *fileEdit) bool {
			return d.Agent == in.Editor && (len(agents) == 0 || slices.ContainsFunc(agents, func(a ACPAgent) bool { return a.Name == d.What }))
		})
	}
	if agents, err = installed(agents); err != nil {
		return err
	}
	m, err := o.machine(j)
	if err != nil {
		return err
	}
	var all []setupStep
	for _, c := range editors[i].Edit(m, agents) {
		c.Agent = in.Editor
		s := setupStep{Agent: c.Agent, What: c.What, Path: c.Path, change: &c, State: toDo}
		s.look(done)
		all = append(all, s)
	}
	return o.doAll(ctx, j, m, done, all)
}

// installed returns the agents that can be started; if none are wanted, all that can,
// skein's own among them.
func installed(wanted []ACPAgent) (here []ACPAgent, err error) {
	for _, a := range wanted {
		if a.isOwn() {
			continue
		}
		if _, err := exec.LookPath(a.Command[0]); err != nil {
			return nil, a.Missing()
		}
	}
	if len(wanted) > 0 {
		return wanted, nil
	}
	for _, a := range acpAgents {
		if _, err := exec.LookPath(a.Command[0]); err == nil {
			here = append(here, a)
		}
	}
	return append(here, ownACPAgent), nil
}

// ACPWords lists the words of the agents that have one.
func ACPWords() string {
	list := make([]string, len(acpAgents))
	for i, a := range acpAgents {
		list[i] = a.Word
	}
	return strings.Join(list, ", ")
}
