package codex

import (
	"bytes"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the name of the format.
const Name = "codex"

// Format returns the reader of Codex's rollouts. A rollout's name begins with the
// time when its thread was created, so a fork and a sub-agent come after their
// parent, which often outlives them.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "OpenAI Codex CLI, Desktop and IDE: ~/.codex/sessions, archived_sessions",
		Places: places,
		Match:  match,
		Kin:    kin(),
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

// match recognizes a rollout by its name and its beginning or, under another name, by
// the beginning alone.
func match(name string, head []byte) interop.Guess {
	base := path.Base(name)
	first, _ := interop.FirstLine(head)
	switch o, _ := loose.Parse(first); {
	case base == "session_index.jsonl" && has(head, `"thread_name"`):
		return interop.KnownBy("its lines have a thread_name")
	case has(head, `"payload"`) && has(head, `"session_meta"`):
		return interop.KnownBy("it has a session_meta")
	case o.Has("id", "timestamp", "instructions") && !o.Has("type"):
		return interop.KnownBy("it begins with an ID, a time and instructions, as those of early versions do")
	case !strings.HasPrefix(base, "rollout-") || !strings.HasSuffix(base, ".jsonl"):
		return interop.Guess{}
	case len(head) == 0, has(head, `"payload"`) && has(head, `"timestamp"`), has(head, `"record_type"`), has(head, `"type"`):
		return interop.PlacedBy("it is called rollout-….jsonl")
	}
	return interop.Guess{}
}

// kin returns the programs that write rollouts like Codex's.
func kin() []interop.Kin {
	return []interop.Kin{
		{Program: "TraeX", Dirs: []string{".trae", ".trae-cn"}, Signs: []string{`"originator":"trae`, `"originator": "trae`}},
		{Program: "Every Code", Dirs: []string{".code"}, Signs: []string{`"originator":"code_`}},
	}
}

func has(head []byte, s string) bool { return bytes.Contains(head, []byte(s)) }
