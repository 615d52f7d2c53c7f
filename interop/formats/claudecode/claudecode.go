package claudecode

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "claude-code"

// Format returns the format of Claude Code's transcripts.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Claude Code's transcripts (~/.claude/projects)",
		Places: places,
		Match:  match,
		PlacedFiles: append(streams(),
			interop.PlacedFile{Name: "a transcript", Is: guessManaged},
			interop.PlacedFile{Name: "agent-ID.meta.json", Is: interop.StartsWith("{", "it has an agentType and a description", `"agentType"`, `"description"`), Beside: "subagents/agent-*.meta.json"},
		),
		Kin:    kin(),
		Open:   open,
		Below:  below,
		Finds:  finds,
		Write:  write,
		Resume: resume,
	}
}

// finds reports whether claude --resume finds a transcript: named by a UUID, in the
// folder of its working directory.
func finds(file string, s skein.Session) bool {
	file, _, _ = strings.Cut(file, "/subagents/")
	folder := path.Base(path.Dir(file))
	return isUUID(stemOf(file)) && (strings.HasPrefix(folder, "-") || folder == mangle(s.Cwd) || folder == mangle(s.Project))
}

func places(h interop.Home) []string {
	dir := filepath.Join(h.Dir, ".claude")
	if env := h.Env("CLAUDE_CONFIG_DIR"); env != "" {
		dir = env
	}
	return []string{filepath.Join(dir, "projects")}
}

// signs are what only Claude Code's lines have among formats of JSON Lines.
var signs = [...]string{`"isSidechain":`, `"leafUuid":`, `"isSnapshotUpdate":`, `"userType":`}

// untied are the types of lines without a UUID that a file may begin with.
var untied = [...]string{
	"mode", "permission-mode", "queue-operation", "last-prompt", "ai-title", "custom-title", "agent-name", "agent-color",
	"agent-setting", "frame-link", "pr-link", "atis-latch", "worktree-state", "bridge-session", "relocated", "tag", "started", "result",
}

// kin returns the programs that write lines like Claude Code's.
func kin() []interop.SimilarProgram {
	return []interop.SimilarProgram{
		{Program: "iFlow CLI", Dirs: []string{".iflow"}, Signs: []string{`"sessionid":"session-`}},
		{Program: "Qoder", Dirs: []string{".qoder"}},
		{Program: "OpenClaude", Dirs: []string{".openclaude"}},
	}
}

func match(file string, head []byte) interop.Guess {
	for _, s := range signs {
		if bytes.Contains(head, []byte(s)) {
			return interop.KnownBy("its lines have " + strings.TrimSuffix(s, ":"))
		}
	}
	for _, t := range untied {
		if bytes.Contains(head, []byte(`"type":"`+t+`"`)) && bytes.Contains(head, []byte(`"sessionId":`)) {
			return interop.KnownBy(`it has a line of type "` + t + `"`)
		}
	}
	if path.Ext(file) == ".jsonl" && strings.Contains(file, "/.claude/projects/") { // damaged or long beginning
		return interop.PlacedBy("it is in .claude/projects")
	}
	return interop.Guess{}
}

// streams returns what programs print with --output-format stream-json: Claude Code, and
// those that took it over. Its lines have neither times nor parents.
func streams() []interop.PlacedFile {
	file := func(by, why string, is func(line loose.Object) bool) interop.PlacedFile {
		return interop.PlacedFile{Name: "the stream-json output", Is: interop.Printed(by, why, is)}
	}
	system := func(o loose.Object) bool { return o.Str("type") == "system" && o.Has("subtype", "session_id") }
	return []interop.PlacedFile{
		file("Qwen Code", "it has a line of type system with a qwen_code_version", func(o loose.Object) bool {
			return system(o) && o.Has("qwen_code_version")
		}),
		file("Cursor's agent", "it has a line of type system with a session_id and an apiKeySource, but without a uuid", func(o loose.Object) bool {
			return system(o) && o.Has("apiKeySource") && !o.Has("uuid")
		}),
		file("Claude Code", "it has lines with a session_id and a uuid, and no time", func(o loose.Object) bool {
			return o.Has("session_id", "uuid") && (system(o) || o.Has("message", "parent_tool_use_id"))
		}),
	}
}

// guessManaged knows the events of agents that Anthropic runs: lines as they were
// streamed, or a page of them as the API lists it.
func guessManaged(head []byte) interop.Guess {
	g := interop.Printed("Claude Managed Agents", "it has a type like agent.message and processed_at", func(o loose.Object) bool {
		area, _, some := strings.Cut(o.Str("type"), ".")
		return some && o.Has("id", "processed_at") && slices.Contains([]string{"user", "agent", "session", "span", "system"}, area)
	})(head)
	if g.Sure == interop.No && interop.IsDocument(head) && bytes.Contains(head, []byte(`"sevt_`)) && bytes.Contains(head, []byte(`"processed_at"`)) {
		g = interop.Guess{Sure: interop.Alike, Why: "it has IDs like sevt_… and processed_at", Of: "Claude Managed Agents"}
	}
	return g
}
