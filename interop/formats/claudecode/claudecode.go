package claudecode

import (
	"bytes"
	"path"
	"path/filepath"
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
		PlacedFiles: []interop.PlacedFile{
			{Name: "a transcript", Is: guessManaged},
			{Name: "the stream-json output", Is: guessStream},
			{Name: "agent-ID.meta.json", Is: interop.StartsWith("{", "it has an agentType and a description", `"agentType"`, `"description"`)},
		},
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

// guessStream knows what the program prints with --output-format stream-json: its lines
// have neither times nor parents.
func guessStream(head []byte) interop.Guess {
	first, _ := interop.FirstLine(head)
	if o, _ := loose.Parse(first); o.Str("type") != "system" || !o.Has("subtype", "session_id", "uuid") {
		return interop.Guess{}
	}
	return interop.Guess{Sure: interop.Alike, Why: "its first line has the type system and a session_id", Of: "Claude Code"}
}

// guessManaged knows the events of agents that Anthropic runs.
func guessManaged(head []byte) interop.Guess {
	first, _ := interop.FirstLine(head)
	o, _ := loose.Parse(first)
	if kind, _, _ := strings.Cut(o.Str("type"), "."); !o.Has("id", "processed_at") || kind != "user" && kind != "agent" && kind != "session" {
		return interop.Guess{}
	}
	return interop.Guess{Sure: interop.Alike, Why: "its lines have a type like agent.message and processed_at", Of: "Claude Managed Agents"}
}
