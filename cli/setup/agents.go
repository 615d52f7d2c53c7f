package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein/internal/jsonedit"
	"github.com/skein-dev/skein/internal/tomledit"
)

// A computer is what setup knows about where it runs.
type computer struct {
	OS     string              // as runtime.GOOS
	Home   string              // the person's home folder
	Env    func(string) string // such as os.Getenv
	Bin    string              // the path of this program
	Flags  []string            // flags that this program is to be given, such as --store PATH
	Hooks  string              // the folder of what hooks say; "" for the usual one
	Config string              // the folder of other programs' configuration, such as ~/.config
}

// at returns a path below the home folder, or below the folder that an environment
// variable names.
func (m computer) at(env, dir string, rest ...string) string {
	base := filepath.Join(m.Home, filepath.FromSlash(dir))
	if d := m.Env(env); env != "" && filepath.IsAbs(d) {
		base = d
	}
	return filepath.Join(append([]string{base}, rest...)...)
}

// command returns how this program is started with some arguments.
func (m computer) command(args ...string) []string {
	return slices.Concat([]string{m.Bin}, args, m.Flags)
}

// watch returns the command that keeps what the agents write.
func (m computer) watch() []string { return m.withHooks(m.command("import", "--watch")) }

// withHooks adds the folder of what hooks say to a command, if it is not the usual one.
func (m computer) withHooks(cmd []string) []string {
	if m.Hooks == "" {
		return cmd
	}
	return append(cmd, "--hooks", m.Hooks)
}

// An agentProgram is an agent that setup knows how to connect.
type agentProgram struct {
	Format string // the name of its format
	Name   string // for people
	Home   func(computer) string
	All    func(m computer, home string) []fileEdit
}

// here reports whether the agent was ever used on this machine.
func (a agentProgram) here(m computer) bool {
	st, err := os.Stat(a.Home(m))
	return err == nil && st.IsDir()
}

// changes returns what setup does for the agent.
func (a agentProgram) changes(m computer) []fileEdit {
	all := a.All(m, a.Home(m))
	for i := range all {
		all[i].Agent = a.Format
	}
	return all
}

// programs are the agents that setup connects, as their documentation says where
// they keep their configuration.
func programs() []agentProgram {
	home := func(env, dir string) func(computer) string {
		return func(m computer) string { return m.at(env, dir) }
	}
	return []agentProgram{
		{"claude-code", "Claude Code", home("CLAUDE_CONFIG_DIR", ".claude"), func(m computer, home string) []fileEdit {
			state := filepath.Join(m.Home, ".claude.json")
			if m.Env("CLAUDE_CONFIG_DIR") != "" {
				state = filepath.Join(home, ".claude.json")
			}
			return []fileEdit{m.server(state, "mcpServers", stdio), m.claudeHooks(home), m.claudeStatus(home), m.skill(home)}
		}},
		{"codex", "Codex", home("CODEX_HOME", ".codex"), func(m computer, home string) []fileEdit {
			cmd := m.command("mcp")
			return []fileEdit{{
				What: server, Path: filepath.Join(home, "config.toml"),
				TOML: []tomledit.Table{{Name: []string{"mcp_servers", "skein"}, Body: "command = " + text(cmd[0]) + "\nargs = " + text(cmd[1:]) + "\n"}},
			}, m.codexHooks(home), m.skill(home)}
		}},
		{"gemini", "Gemini CLI", home("", ".gemini"), func(m computer, home string) []fileEdit {
			return []fileEdit{m.server(filepath.Join(home, "settings.json"), "mcpServers", plain), m.geminiHooks(home), m.skill(home)}
		}},
		{"qwen", "Qwen Code", home("", ".qwen"), func(m computer, home string) []fileEdit {
			return []fileEdit{m.server(filepath.Join(home, "settings.json"), "mcpServers", plain), m.skill(home)}
		}},
		{"opencode", "opencode", func(m computer) string { return filepath.Join(m.Config, "opencode") }, func(m computer, home string) []fileEdit {
			file := filepath.Join(home, "opencode.json")
			if _, err := os.Stat(file + "c"); err == nil {
				file += "c"
			}
			return []fileEdit{m.server(file, "mcp", local), m.opencodeHooks(home), m.skill(home)}
		}},
		{"cursor", "Cursor", home("", ".cursor"), func(m computer, home string) []fileEdit {
			return []fileEdit{m.server(filepath.Join(home, "mcp.json"), "mcpServers", plain), m.cursorHooks(home)}
		}},
		{"copilot", "Copilot CLI", home("COPILOT_HOME", ".copilot"), func(m computer, home string) []fileEdit {
			return []fileEdit{m.server(filepath.Join(home, "mcp-config.json"), "mcpServers", copilot), m.copilotHooks(home), m.skill(home)}
		}},
		{"pi", "pi", home("PI_CODING_AGENT_DIR", ".pi/agent"), func(m computer, home string) []fileEdit {
			return []fileEdit{m.piHooks(home), m.skill(home)}
		}},
		{"crush", "Crush", func(m computer) string { return filepath.Join(m.Config, "crush") }, func(m computer, home string) []fileEdit {
			return []fileEdit{m.server(filepath.Join(home, "crush.json"), "mcp", stdio)}
		}},
	}
}

const server = "MCP server"

// The forms in which programs want the command of an MCP server.
var (
	plain   = func(cmd []string) any { return mcpEntry{Command: cmd[0], Args: cmd[1:]} }
	stdio   = func(cmd []string) any { return mcpEntry{"stdio", cmd[0], cmd[1:], nil} }
	copilot = func(cmd []string) any { return mcpEntry{"local", cmd[0], cmd[1:], []string{"*"}} }
	local   = func(cmd []string) any {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
		}{"local", cmd, true}
	}
)

type mcpEntry struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Tools   []string `json:"tools,omitempty"`
}

// server returns the change that enters the MCP server in a JSON file, as the
// member skein of a member.
func (m computer) server(file, member string, form func(cmd []string) any) fileEdit {
	return fileEdit{What: server, Path: file, JSON: []jsonedit.Addition{{Path: []string{member, "skein"}, Value: []byte(text(form(m.command("mcp"))))}}}
}

// skill returns the change that tells an agent when to look things up.
func (m computer) skill(home string) fileEdit {
	return fileEdit{What: "skill", Path: filepath.Join(home, "skills", "skein", "SKILL.md"), Text: skillText}
}

// skillText is in the form that many agents read (https://agentskills.io).
const skillText = `---
name: skein
description: Search and read earlier sessions of all coding agents on this machine. Use it when the user refers to earlier work ("as we did last week", "why did we change this"), before you repeat an investigation, or when an error looks familiar.
---

# Earlier sessions

The MCP server "skein" has the sessions of every coding agent on this machine.

- Search first with few, rare words: an error message, an identifier, a file name.
- Read only the turns that a search returns, not whole sessions.
- Name the session and its date when you rely on what it says, and check that the
  code still looks as it did then.
`

// text returns v as JSON, which is also TOML for strings and lists of them.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
