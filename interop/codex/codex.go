package codex

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/interop"
)

// Name is what the format is called.
const Name = "codex"

// Format returns the reader of Codex's rollouts. A rollout's name begins with
// the time when its thread was made, so a fork and a sub-agent come after their
// parent, which often goes on for longer than they do.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "OpenAI Codex CLI, Desktop and IDE: ~/.codex/sessions, archived_sessions",
		Places: places,
		Match:  match,
		Order:  filepath.Base,
		Open:   open,
		Below:  below,
		Write:  write,
		Lock:   lock,
		Resume: resume,
	}
}

func places(h interop.Home) []string {
	home := h.Env("CODEX_HOME")
	if home == "" {
		home = filepath.Join(h.Dir, ".codex")
	}
	return []string{
		filepath.Join(home, "sessions"),
		filepath.Join(home, "archived_sessions"),
		filepath.Join(home, "session_index.jsonl"),
	}
}

// match knows a rollout by its name and how it begins, or, under another
// name, by the beginning alone.
func match(name string, head []byte) bool {
	base := path.Base(name)
	rollout := strings.HasPrefix(base, "rollout-")
	switch {
	case !strings.HasSuffix(base, ".jsonl"):
		return false
	case base == "session_index.jsonl":
		return has(head, `"thread_name"`)
	case rollout && len(head) == 0:
		return true
	case has(head, `"payload"`) && (has(head, `"session_meta"`) || rollout && has(head, `"timestamp"`)):
		return true
	}
	return rollout && (has(head, `"instructions"`) || has(head, `"record_type"`) || has(head, `"type"`))
}

func has(head []byte, s string) bool { return bytes.Contains(head, []byte(s)) }
