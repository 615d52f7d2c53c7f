package gemini

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Names of the formats: [skein.Origin.Format] of what they read.
const (
	Name     = "gemini"
	QwenName = "qwen-old"
)

// A program is one that writes such files.
type program struct {
	name     string // of the format
	agent    string
	provider string
	dir      string // of its home, as in paths
}

// Format returns the format of Gemini CLI's sessions.
func Format() interop.Format {
	f := program{name: Name, agent: "gemini-cli", provider: "google", dir: "/.gemini/"}.format()
	f.Doc = "Gemini CLI: ~/.gemini/tmp/<project>/chats, and what /chat save kept"
	f.Places = func(h interop.Home) []string {
		home := h.Env("GEMINI_CLI_HOME")
		if home == "" {
			home = h.Dir
		}
		return []string{filepath.Join(home, ".gemini", "tmp")}
	}
	return f
}

// Qwen returns the format of the sessions that Qwen Code wrote before it had a format
// of its own.
func Qwen() interop.Format {
	f := program{name: QwenName, agent: "qwen-code", dir: "/.qwen/"}.format()
	f.Doc = "early Qwen Code: ~/.qwen/tmp/<project>/chats, in the shape of Gemini CLI's"
	f.Places = func(h interop.Home) []string { return []string{filepath.Join(h.Dir, ".qwen", "tmp")} }
	return f
}

func (p program) format() interop.Format {
	return interop.Format{
		Name:  p.name,
		Match: p.match,
		Order: order,
		Open:  p.open,
		Unit:  unit,
		Look:  p.look,
		Below: below,
		Put:   interop.PutDocument,

		Document: p.document,
		PlacedFiles: []interop.PlacedFile{
			{Name: "checkpoint-TAG.json", Path: "tmp/-/checkpoint-*.json", Is: guessCheckpoint},
			{Name: "the stream-json output", Is: interop.Printed("Gemini CLI", "it has a line of type init with a session_id and a model", func(o loose.Object) bool {
				return o.Str("type") == "init" && o.Has("session_id", "model", "timestamp")
			})},
			{Name: ".project_root", Beside: "tmp/*/.project_root"},
			{Name: "projects.json", Beside: "projects.json"},
		},
	}
}

// order puts sessions after the sessions that started them.
func order(name string) string {
	if path.Base(path.Dir(path.Dir(filepath.ToSlash(name)))) == "chats" {
		return "1"
	}
	return "0"
}

// match recognizes the lines of a session by the first of them, and a file that is
// still empty by its place.
func (p program) match(name string, head []byte) interop.Guess {
	if p.others(name) {
		return interop.Guess{}
	}
	if len(head) == 0 {
		if path.Ext(name) == ".jsonl" && strings.Contains(name, p.dir+"tmp/") && strings.Contains(name, "/chats/") {
			return interop.PlacedBy("it is in chats")
		}
		return interop.Guess{}
	}
	first, _ := interop.FirstLine(head)
	o, _ := loose.Parse(first) // for a document, which has its messages in the same value, its beginning
	if o.Has("sessionId", "projectHash") && !o.Has("messages") && (p.name == Name || strings.Contains(name, p.dir)) {
		return interop.KnownBy("it begins with a sessionId and a projectHash")
	}
	return interop.Guess{}
}

// others reports whether a file is where only the other program's files are.
func (p program) others(name string) bool {
	return p.name == Name && strings.Contains(name, "/.qwen/") || p.name != Name && strings.Contains(name, "/.gemini/")
}

func has(data []byte, s string) bool { return bytes.Contains(data, []byte(s)) }

// unit returns the file itself if its name and place are a document's.
func unit(name string) string {
	base := path.Base(name)
	switch {
	case path.Ext(base) != ".json":
	case strings.HasPrefix(base, "session-"), isCheckpoint(name), strings.Contains(name, "/chats/") && strings.Contains(name, "/tmp/"):
		return name
	}
	return ""
}

// document recognizes a session elsewhere, under any name.
func (p program) document(name string, head []byte) interop.Guess {
	start := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	if bytes.HasPrefix(start, []byte("{")) && has(head, `"sessionId"`) && has(head, `"projectHash"`) && has(head, `"messages"`) && !p.others(name) {
		return interop.KnownBy("it has a sessionId, a projectHash and messages")
	}
	return interop.Guess{}
}

// isCheckpoint reports whether a file has a name that /chat save gives.
func isCheckpoint(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "checkpoint-") && path.Ext(base) == ".json" || base == "checkpoint.json"
}

func (p program) look(ctx context.Context, name string) (interop.Unit, error) {
	at := filepath.ToSlash(name)
	ours := false
	u, err := interop.OpenDocument(ctx, name, func(data []byte) ([][]byte, bool) {
		ours = p.ours(at, data)
		return loose.Cut(data, array(at, data))
	})
	if err != nil || ours {
		return u, err
	}
	return nil, interop.ErrOther
}

// array returns the name of the list that a document is split at.
func array(name string, data []byte) string {
	switch {
	case !isCheckpoint(name):
		return "messages"
	case bytes.HasPrefix(bytes.TrimLeft(data, "\xef\xbb\xbf \t\r\n"), []byte("[")):
		return ""
	}
	return "history"
}

// ours reports whether a document is a session of the program: one that names no
// program is Qwen Code's if it is in that program's folder.
func (p program) ours(name string, data []byte) bool {
	qwen := strings.Contains(name, "/.qwen/") || has(data, `"type": "qwen"`) || has(data, `"type":"qwen"`)
	if qwen != (p.name == QwenName) {
		return false
	}
	if isCheckpoint(name) {
		return has(data, `"role"`) && has(data, `"parts"`)
	}
	return has(data, `"sessionId"`) && (has(data, `"messages"`) || has(data, `"projectHash"`))
}

// below returns a file's path below ~/.gemini or ~/.qwen.
func below(name string) string {
	if at := strings.LastIndex(name, "/tmp/"); at >= 0 && (strings.Contains(name[at:], "/chats/") || isCheckpoint(name)) {
		return name[at+1:]
	}
	if path.Base(path.Dir(name)) == "tmp" {
		return "tmp/" + path.Base(name)
	}
	return path.Base(name)
}

// guessCheckpoint knows that a list has the shape of a saved chat: that of any list of
// messages to the model.
func guessCheckpoint(head []byte) interop.Guess {
	if bytes.Contains(head, []byte(`"type"`)) { // parts of OpenTelemetry's
		return interop.Guess{}
	}
	if g := interop.StartsWith("{", "it has a history of messages with a role and parts", `"history"`, `"role"`, `"parts"`)(head); g.Sure == interop.Known {
		return g
	}
	return interop.StartsWith("[", "its messages have a role and parts, as those of many programs that use Gemini", `"role"`, `"parts"`)(head).AtMost(interop.Alike)
}
