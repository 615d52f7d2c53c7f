package copilotvscode

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "copilot-vscode"

// Format returns the format of VS Code's chat sessions.
func Format() interop.Format {
	return interop.Format{
		Name:        Name,
		Doc:         "GitHub Copilot in VS Code: workspaceStorage/*/chatSessions",
		Places:      places,
		Match:       match,
		PlacedFiles: []interop.PlacedFile{{Name: "workspace.json", Beside: "workspaceStorage/*/workspace.json"}},
		Open:        open,
		Unit:        unit,
		Look:        look,
		Below:       below,
		Put:         interop.PutDocument,

		Document: document,
	}
}

// places returns the existing folders with sessions: the rest of an editor's storage
// is large.
func places(h interop.Home) (all []string) {
	config := h.Env("XDG_CONFIG_HOME")
	switch {
	case runtime.GOOS == "darwin":
		config = filepath.Join(h.Dir, "Library", "Application Support")
	case runtime.GOOS == "windows":
		if config = h.Env("APPDATA"); config == "" {
			config = filepath.Join(h.Dir, "AppData", "Roaming")
		}
	case config == "":
		config = filepath.Join(h.Dir, ".config")
	}
	var users []string
	for _, editor := range []string{"Code", "Code - Insiders", "VSCodium"} {
		users = append(users, filepath.Join(config, editor, "User"))
	}
	for _, server := range []string{".vscode-server", ".vscode-server-insiders"} {
		users = append(users, filepath.Join(h.Dir, server, "data", "User"))
	}
	for _, user := range users {
		all = append(all, filepath.Join(user, "globalStorage", "emptyWindowChatSessions"))
		found, err := filepath.Glob(filepath.Join(literal(user), "workspaceStorage", "*", "chatSessions"))
		if err == nil { // the pattern is always valid
			all = append(all, found...)
		}
	}
	return all
}

// literal returns a pattern that matches only the path.
func literal(name string) string {
	if runtime.GOOS == "windows" {
		return name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// match recognizes a log of changes by the first change and its content.
func match(name string, head []byte) interop.Guess {
	dir := path.Base(path.Dir(name))
	placed := path.Ext(name) == ".jsonl" && (dir == "chatSessions" || dir == "emptyWindowChatSessions")
	first, _ := interop.FirstLine(head)
	first0 := has(first, `"kind":0`) && has(first, `"v":`)
	switch {
	case first0 && has(first, `"responderUsername"`):
		return interop.KnownBy("it begins with a change of kind 0 that has a responderUsername")
	case placed && (len(head) == 0 || first0):
		return interop.PlacedBy("it is in " + dir)
	}
	return interop.Guess{}
}

// unit returns the file itself if its name and place are a session's.
func unit(name string) string {
	dir := path.Base(path.Dir(name))
	base := path.Base(name)
	if path.Ext(name) == ".json" && (dir == "chatSessions" || dir == "emptyWindowChatSessions" || base == "chat.json" || base == "copilot.json") {
		return name
	}
	return ""
}

// document recognizes a session elsewhere, under any name.
func document(_ string, head []byte) interop.Guess {
	start := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	if bytes.HasPrefix(start, []byte("{")) && !has(start[:min(len(start), 64)], `"kind":0`) && (has(head, `"responderUsername"`) || has(head, `"requesterUsername"`) && has(head, `"requests"`)) {
		return interop.KnownBy("it names who asks and who answers, and has requests")
	}
	return interop.Guess{}
}

func look(ctx context.Context, name string) (interop.Unit, error) {
	ours := false
	u, err := interop.OpenDocument(ctx, name, func(data []byte) ([][]byte, bool) {
		ours = has(data, `"requests"`) && (has(data, `"responderUsername"`) || has(data, `"requesterUsername"`) || has(data, `"sessionId"`))
		return loose.Cut(data, "requests")
	})
	if err != nil || ours {
		return u, err
	}
	return nil, interop.ErrOther
}

func has(data []byte, s string) bool { return bytes.Contains(data, []byte(s)) }

// below returns a file's path below the editor's User folder.
func below(name string) string {
	for _, dir := range []string{"/workspaceStorage/", "/globalStorage/"} {
		if at := strings.LastIndex(name, dir); at >= 0 {
			return name[at+1:]
		}
	}
	return path.Base(name)
}
