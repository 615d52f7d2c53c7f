package cline

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "cline"

// Format returns the format of Cline's and Roo Code's tasks.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Cline, its CLI, Roo Code and Kilo Code: folders of tasks",
		Places: func(h interop.Home) []string { return placesOn(runtime.GOOS, h) },
		Unit:   unitOf,
		Look:   look,
		PlacedFiles: []interop.PlacedFile{
			{Name: apiName, Path: "tasks/*/" + apiName, Is: guessHistory},
			{Name: uiName, Path: "tasks/*/" + uiName, Is: interop.StartsWith("[", "its messages have a ts, and a say or ask", `"ts"`, `"type"`, `"say"`)},
			{Name: "ID" + messagesEnd, Path: "sessions/*/*" + messagesEnd, Is: interop.StartsWith("{", "it has an agent and messages", `"agent"`, `"messages"`, `"role"`)},
			{Name: apiName, Path: "tasks/*/" + apiName, Is: interop.StartsWith("{", "it has a version and messages with a ts", `"version"`, `"messages"`, `"role"`, `"ts"`)},
			{Name: "a session's ID.json", Is: interop.StartsWith("{", "it has a session_id, a provider and a prompt", `"session_id"`, `"started_at"`, `"provider"`)},
			{Name: metaName, Is: interop.StartsWith("{", "it has files_in_context", `"files_in_context"`)},
			{Name: itemName, Is: interop.StartsWith("{", "it has an id, and a task's workspace", `"id"`, `ask`, `"workspace"`)},
			{Name: "taskHistory.json", Is: interop.StartsWith("[", "its tasks have a cwdOnTaskInitialization", `"task"`, `"cwdOnTaskInitialization"`), Beside: "state/taskHistory.json"},
			{Name: "settings.json", Beside: "tasks/*/settings.json"},
		},
		Open:  open,
		Below: below,
		Put:   interop.PutFolder,
	}
}

// plugins returns the names of the plugins' folders in editors.
func plugins() []string {
	return []string{"saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"}
}

// placesOn returns the usual places on an operating system.
func placesOn(system string, h interop.Home) (dirs []string) {
	config := h.Env("XDG_CONFIG_HOME")
	switch {
	case system == "darwin":
		config = filepath.Join(h.Dir, "Library", "Application Support")
	case system == "windows":
		if config = h.Env("APPDATA"); config == "" {
			config = filepath.Join(h.Dir, "AppData", "Roaming")
		}
	case config == "":
		config = filepath.Join(h.Dir, ".config")
	}
	var bases []string
	for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
		bases = append(bases, filepath.Join(config, editor, "User"))
	}
	for _, server := range []string{".vscode-server", ".vscode-server-insiders", ".cursor-server"} {
		bases = append(bases, filepath.Join(h.Dir, server, "data", "User"))
	}
	for i, base := range bases {
		for j, p := range plugins() {
			dir := filepath.Join(base, "globalStorage", p)
			if _, err := os.Lstat(dir); err == nil || i == 0 && j < 2 { // only those that exist
				dirs = append(dirs, filepath.Join(dir, "tasks"))
			}
		}
	}
	own := filepath.Join(h.Dir, ".cline", "data")
	if dir := h.Env("CLINE_DATA_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			own = abs
		}
	} else if dir := h.Env("CLINE_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			own = filepath.Join(abs, "data")
		}
	}
	return append(dirs, filepath.Join(own, "tasks"), filepath.Join(own, "sessions"))
}

// The files of a task.
const (
	apiName  = "api_conversation_history.json"
	uiName   = "ui_messages.json"
	oldName  = "claude_messages.json" // ui_messages.json, in 2024
	metaName = "task_metadata.json"
	itemName = "history_item.json"
)

// messagesEnd is the ending of message files in sessions of the newer CLI.
const messagesEnd = ".messages.json"

// known reports whether a file of a task's folder is read; the rest are
// settings, copies of files and checkpoints.
func known(name string) bool {
	switch name {
	case apiName, uiName, oldName, metaName, itemName:
		return true
	}
	return false
}

// unitOf returns the folder of the task or session that a file belongs to.
func unitOf(name string) string {
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	switch path.Base(path.Dir(dir)) {
	case "tasks":
		if known(base) {
			return dir
		}
	case "sessions":
		if id := path.Base(dir); base == id+".json" || strings.HasSuffix(base, messagesEnd) && strings.HasPrefix(base, id) {
			return dir
		}
	}
	return ""
}

// part reports whether a file of a unit's folder is read.
func part(unit, name string) bool { return unitOf(unit+"/"+name) == unit }

// below returns the place of a unit's folder below that of its program.
func below(name string) string {
	return path.Join(path.Base(path.Dir(name)), path.Base(name))
}

// guessHistory knows the messages of a task by what Cline puts into them; many programs
// write lists of such messages.
func guessHistory(head []byte) interop.Guess {
	g := interop.StartsWith("[", "its messages have a role, content and environment_details or a task", `"role"`, `"content"`)(head)
	if bytes.Contains(head, []byte(`"parts"`)) {
		return interop.Guess{}
	}
	if g.Sure == interop.Known && !bytes.Contains(head, []byte("environment_details>")) && !bytes.Contains(head, []byte("<task>")) {
		return interop.Guess{Sure: interop.Alike, Why: "its messages have a role and content, as those of many programs"}
	}
	return g
}
