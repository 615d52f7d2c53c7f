package qwen

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "qwen"

// agent is the agent's name in sessions.
const agent = "qwen-code"

// Format returns the format of Qwen Code's transcripts.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Qwen Code's transcripts (~/.qwen/projects)",
		Places: places,
		Match:  match,
		PlacedFiles: []interop.PlacedFile{
			{Name: "agent-ID.meta.json", Is: interop.StartsWith("{", "it has an agentType and a parentSessionId", `"agentType"`, `"parentSessionId"`), Beside: "subagents/*/agent-*.meta.json"},
		},
		Open: open,
	}
}

func places(h interop.Home) []string {
	base := filepath.Join(h.Dir, ".qwen")
	for _, name := range []string{"QWEN_HOME", "QWEN_RUNTIME_DIR"} {
		dir := h.Env(name)
		if rest, ok := strings.CutPrefix(dir, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			dir = filepath.Join(h.Dir, rest)
		}
		if dir != "" && filepath.IsAbs(dir) {
			base = dir
		}
	}
	return []string{filepath.Join(base, "projects"), filepath.Join(base, "tmp")}
}

// match recognizes a file by its records: like those of Claude Code, but with parts
// in messages.
func match(name string, head []byte) interop.Guess {
	has := func(s string) bool { return bytes.Contains(head, []byte(s)) }
	if has(`"parentUuid":`) && has(`"sessionId":`) {
		for _, sign := range []string{`"role":"user","parts":`, `"role":"model","parts":`, `"systemPayload":`, `"parts":[`} {
			if has(sign) {
				return interop.KnownBy("its lines have a parentUuid, and parts")
			}
		}
	}
	if path.Ext(name) == ".jsonl" && strings.Contains(name, "/.qwen/projects/") { // its beginning is damaged
		return interop.PlacedBy("it is in .qwen/projects")
	}
	return interop.Guess{}
}
