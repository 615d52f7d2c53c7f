package copilot

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "copilot"

// agent is the program's name for itself.
const agent = "copilot-cli"

// Format returns the format of GitHub Copilot CLI's sessions.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "GitHub Copilot CLI: ~/.copilot/session-state, history-session-state",
		Places: places,
		Match:  match,
		Order:  order,
		Open:   open,
		Unit:   unit,
		Look:   look,
		Below:  below,
		Put:    interop.PutDocument,

		Document: isDocument,
	}
}

func places(h interop.Home) []string {
	homes := []string{h.Env("COPILOT_HOME")}
	if homes[0] == "" {
		homes = []string{filepath.Join(h.Dir, ".copilot")}
		if state := h.Env("XDG_STATE_HOME"); state != "" { // used by early versions
			homes = append(homes, filepath.Join(state, ".copilot"))
		}
	}
	var all []string
	for _, home := range homes {
		all = append(all, filepath.Join(home, "session-state"), filepath.Join(home, "history-session-state"))
	}
	return all
}

// match recognizes the events of a session by the first of them, and a file that is
// still empty by its place.
func match(name string, head []byte) interop.Guess {
	placed := path.Ext(name) == ".jsonl" && strings.Contains(name, "/session-state/") && strings.Contains(name, "copilot")
	first, _ := interop.FirstLine(head)
	low := bytes.ToLower(first)
	switch {
	case has(first, `"session_id"`) && (has(low, `"userpromptsubmitted"`) || has(low, `"assistantresponse"`)):
		return interop.KnownBy("it begins with a session_id and what was asked or answered")
	case has(first, `"type"`) && has(first, `"data"`) && has(first, `"session.start"`) && has(first, "copilot"):
		return interop.KnownBy("it begins with the session.start of a copilot")
	case placed && (len(head) == 0 || has(first, `"type"`) && has(first, `"data"`)):
		return interop.PlacedBy("it lies in session-state")
	}
	return interop.Guess{}
}

// isDocument recognizes a session of early versions by its lists, under any name.
func isDocument(_ string, head []byte) interop.Guess {
	if has(head, `"sessionId"`) && has(head, `"startTime"`) && list(head) != "" {
		return interop.KnownBy("it has a sessionId and " + list(head))
	}
	return interop.Guess{}
}

func has(data []byte, s string) bool { return bytes.Contains(data, []byte(s)) }

// order puts the notes about sessions after the sessions.
func order(name string) string {
	if path.Base(filepath.ToSlash(name)) == notes {
		return "1"
	}
	return "0"
}

// notes is the name of a file that has the title of the session beside it.
const notes = "workspace.yaml"

// unit returns the file itself if its name and place are a document's.
func unit(name string) string {
	dir := path.Dir(name)
	switch {
	case path.Base(name) == notes && path.Base(path.Dir(dir)) == "session-state",
		path.Ext(name) == ".json" && path.Base(dir) == "history-session-state":
		return name
	}
	return ""
}

func look(ctx context.Context, name string) (interop.Unit, error) {
	ours := false
	u, err := interop.OpenDocument(ctx, name, func(data []byte) ([][]byte, bool) {
		if filepath.Base(name) == notes {
			ours = true
			return [][]byte{data}, true
		}
		list := list(data)
		ours = has(data, `"sessionId"`) && list != ""
		return loose.Cut(data, list)
	})
	if err != nil || ours {
		return u, err
	}
	return nil, interop.ErrOther
}

// list returns the name of the list that a document is split at.
func list(data []byte) string {
	for _, name := range []string{"chatMessages", "timeline"} {
		if has(data, `"`+name+`"`) {
			return name
		}
	}
	return ""
}

// below returns a file's path below ~/.copilot.
func below(name string) string {
	for _, dir := range []string{"/session-state/", "/history-session-state/"} {
		if at := strings.LastIndex(name, dir); at >= 0 {
			return name[at+1:]
		}
	}
	if base := path.Base(path.Dir(name)); base == "session-state" || base == "history-session-state" {
		return base + "/" + path.Base(name)
	}
	return path.Base(name)
}
