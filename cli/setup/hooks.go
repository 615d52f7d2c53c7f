package setup

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/jsonedit"
)

const hooks = "hooks"

// hookSeconds is how long an agent may wait for its hook; it takes a few milliseconds.
const hookSeconds = 5

// The events that agents run hooks on. What comes with every token is left out.
var (
	claudeEvents  = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest", "Notification", "SubagentStop", "Stop", "StopFailure", "SessionEnd"}
	codexEvents   = []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "SubagentStop", "Stop"}
	geminiEvents  = []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent", "SessionEnd"}
	cursorEvents  = []string{"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop", "sessionEnd"}
	copilotEvents = []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "errorOccurred", "sessionEnd"}
)

// hookCommand returns the command of a hook as the agent's shell reads it.
func (m computer) hookCommand(args ...string) string {
	return m.shellLine(m.withHooks(m.command(append([]string{"hook"}, args...)...)))
}

// shellLine returns a command as an agent's shell reads it.
func (m computer) shellLine(cmd []string) string {
	out := make([]string, len(cmd))
	for i, w := range cmd {
		out[i] = m.shellWord(w)
	}
	line := strings.Join(out, " ")
	if m.OS == "windows" {
		return line
	}
	return line + " || true" // also when this program is gone, the agent goes on
}

// shellWord quotes a word for the shell that runs hooks: sh and, on Windows, any of
// three, which all read double quotes and forward slashes.
func (m computer) shellWord(w string) string {
	const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
	if m.OS == "windows" {
		w = filepath.ToSlash(strings.ReplaceAll(w, `\`, "/"))
	}
	switch {
	case w != "" && strings.Trim(w, harmless) == "":
		return w
	case m.OS == "windows":
		return `"` + w + `"`
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// A commandHook is a hook in the form of Claude Code, which others have taken over.
type commandHook struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"` // seconds; Gemini CLI: milliseconds
}

// matched returns the change that enters a hook for each event, in the form of Claude
// Code: a list of matchers for each event, each with a list of hooks.
func matched(file string, events []string, h commandHook) fileEdit {
	c := fileEdit{What: hooks, Path: file}
	value := json.RawMessage(text(map[string][]commandHook{"hooks": {h}}))
	for _, e := range events {
		c.JSON = append(c.JSON, jsonedit.Addition{Path: []string{"hooks", e}, Element: true, Value: value})
	}
	return c
}

// claudeHooks is https://code.claude.com/docs/en/hooks (checked 2026-11-23 with 2.1.330).
func (m computer) claudeHooks(home string) fileEdit {
	return matched(filepath.Join(home, "settings.json"), claudeEvents, commandHook{Type: "command", Command: m.hookCommand("claude-code"), Timeout: hookSeconds})
}

// claudeStatus is https://code.claude.com/docs/en/statusline (checked 2026-11-23 with
// 2.1.330).
func (m computer) claudeStatus(home string) fileEdit {
	value := json.RawMessage(text(struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}{"command", m.shellLine(m.command("statusline"))}))
	return fileEdit{What: "status line", Path: filepath.Join(home, "settings.json"), Optional: true, JSON: []jsonedit.Addition{{Path: []string{"statusLine"}, Value: value}}}
}

// codexHooks is https://developers.openai.com/codex/hooks (checked 2026-11-23 with
// 0.169.0). Codex asks the person to trust hooks before it runs them.
func (m computer) codexHooks(home string) fileEdit {
	return matched(filepath.Join(home, "hooks.json"), codexEvents, commandHook{Type: "command", Command: m.hookCommand("codex"), Timeout: hookSeconds})
}

// geminiHooks is https://geminicli.com/docs/hooks/reference (checked 2026-11-23 with
// 0.61.0).
func (m computer) geminiHooks(home string) fileEdit {
	return matched(filepath.Join(home, "settings.json"), geminiEvents, commandHook{Name: "skein", Type: "command", Command: m.hookCommand("gemini"), Timeout: hookSeconds * 1000})
}

// cursorHooks is https://cursor.com/docs/agent/hooks (checked 2026-11-23).
func (m computer) cursorHooks(home string) fileEdit {
	c := fileEdit{What: hooks, Path: filepath.Join(home, "hooks.json"), JSON: []jsonedit.Addition{{Path: []string{"version"}, Value: json.RawMessage("1")}}}
	value := json.RawMessage(text(map[string]string{"command": m.hookCommand("cursor")}))
	for _, e := range cursorEvents {
		c.JSON = append(c.JSON, jsonedit.Addition{Path: []string{"hooks", e}, Element: true, Value: value})
	}
	return c
}

// copilotHooks is
// https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference
// (checked 2026-11-23). Copilot CLI reads every file of its folder, and does not tell a
// hook which event it is for.
func (m computer) copilotHooks(home string) fileEdit {
	type hook struct {
		Type       string `json:"type"`
		Bash       string `json:"bash"`
		PowerShell string `json:"powershell"`
		Timeout    int    `json:"timeoutSec"`
	}
	all := map[string][]hook{}
	for _, e := range copilotEvents {
		line := m.hookCommand("copilot", e)
		all[e] = []hook{{"command", line, "& " + strings.TrimSuffix(line, " || true"), hookSeconds}}
	}
	b, err := json.MarshalIndent(map[string]any{"version": 1, "hooks": all}, "", "  ")
	if err != nil {
		return fileEdit{}
	}
	return fileEdit{What: hooks, Path: filepath.Join(home, "hooks", "skein.json"), Text: string(b) + "\n"}
}

// opencodeHooks is a plugin: https://opencode.ai/docs/plugins (checked 2026-11-23 with
// 1.18.33). It tells what Claude Code would, and waits for nothing.
func (m computer) opencodeHooks(home string) fileEdit {
	return fileEdit{What: hooks, Path: filepath.Join(home, "plugin", "skein.js"), Text: `// Tells skein what happens in sessions. Made by "skein setup"; "skein setup --undo"
// removes it.
import { spawn } from "node:child_process"

const command = ` + m.hookWords("opencode") + `

function tell(news) {
  try {
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(news))
    child.unref()
  } catch {}
}

const names = {
  "session.created": "SessionStart",
  "session.idle": "Stop",
  "session.error": "StopFailure",
  "permission.asked": "PermissionRequest",
  "permission.updated": "PermissionRequest",
  "permission.replied": "PostToolUse",
  "question.asked": "PermissionRequest",
  "question.replied": "PostToolUse",
}

export const Skein = async ({ directory }) => ({
  event: async ({ event }) => {
    const p = event.properties ?? {}
    const session_id = p.sessionID ?? p.info?.id
    const hook_event_name = names[event.type]
    if (!session_id || !hook_event_name) return
    const message = p.title ?? p.questions?.[0]?.question ?? p.patterns?.join(" ")
    tell({ session_id, hook_event_name, cwd: directory, tool_name: p.permission ?? p.type ?? (p.questions && "question"), message, error: p.error?.data?.message ?? p.error?.name })
  },
  "chat.message": async (input) => tell({ session_id: input.sessionID, hook_event_name: "UserPromptSubmit", cwd: directory }),
  "tool.execute.before": async (input) => tell({ session_id: input.sessionID, hook_event_name: "PreToolUse", cwd: directory, tool_name: input.tool }),
  "tool.execute.after": async (input) => tell({ session_id: input.sessionID, hook_event_name: "PostToolUse", cwd: directory }),
})
`}
}

// piHooks is an extension of pi (checked 2026-11-23 with 0.73.1).
func (m computer) piHooks(home string) fileEdit {
	return fileEdit{What: hooks, Path: filepath.Join(home, "extensions", "skein.js"), Text: `// Tells skein what happens in sessions. Made by "skein setup"; "skein setup --undo"
// removes it.
import { spawn } from "node:child_process"

const command = ` + m.hookWords("pi") + `

function tell(ctx, hook_event_name, more) {
  try {
    const transcript_path = ctx.sessionManager.getSessionFile()
    const session_id = ctx.sessionManager.getSessionId()
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "ignore", "ignore"], detached: true })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ session_id, transcript_path, cwd: ctx.cwd, hook_event_name, ...more }))
    child.unref()
  } catch {}
}

export default function (pi) {
  pi.on("session_start", (event, ctx) => tell(ctx, "SessionStart"))
  pi.on("agent_start", (event, ctx) => tell(ctx, "UserPromptSubmit"))
  pi.on("tool_execution_start", (event, ctx) => tell(ctx, "PreToolUse", { tool_name: event.toolName }))
  pi.on("tool_execution_end", (event, ctx) => tell(ctx, "PostToolUse"))
  pi.on("agent_end", (event, ctx) => tell(ctx, "Stop"))
  pi.on("session_shutdown", (event, ctx) => tell(ctx, "SessionEnd"))
}
`}
}

// hookWords returns the command of a hook as a list in JSON, which is JavaScript.
func (m computer) hookWords(agent string) string {
	return text(m.withHooks(m.command("hook", agent)))
}
