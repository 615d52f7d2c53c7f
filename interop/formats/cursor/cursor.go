package cursor

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "cursor"

// The names of Cursor's databases.
const (
	storeName = "store.db"
	stateName = "state.vscdb"
)

// Format returns the format of Cursor's three stores.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Cursor: chats of the CLI, composers of the editor, agent transcripts",
		Places: func(h interop.Home) []string { return placesOn(runtime.GOOS, h) },
		Match:  match,
		Unit:   unitOf,
		Look:   look,
		PlacedFiles: []interop.PlacedFile{
			{Name: stateName, Path: "globalStorage/" + stateName, Is: interop.StartsWith("SQLite format 3", "it has a table cursorDiskKV", "cursorDiskKV")},
			{Name: storeName, Path: "chats/-/*/" + storeName, Is: interop.StartsWith("SQLite format 3", "it has tables blobs and meta", "CREATE TABLE blobs", "CREATE TABLE meta")},
			{Name: "an agent's transcript", Path: "projects/-/agent-transcripts/*.txt", Is: interop.StartsWith("user:", "it begins with user: and a user_query", "<user_query>")},
			{Name: ".workspace-trusted", Beside: ".workspace-trusted"},
			{Name: "workspace.json", Beside: "workspaceStorage/*/workspace.json"},
			{Name: "the " + stateName + " of a workspace", Beside: "workspaceStorage/*/" + stateName},
		},
		Open:   open,
		Below:  below,
		Put:    put,
		Resume: resume,
	}
}

func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"cursor-agent", "--resume", w.ID}, s.Cwd
}

// placesOn returns the usual places on an operating system.
func placesOn(system string, h interop.Home) []string {
	own := filepath.Join(h.Dir, ".cursor")
	if dir := h.Env("CURSOR_CONFIG_DIR"); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			own = abs
		}
	}
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
	return []string{
		filepath.Join(config, "Cursor", "User", "globalStorage", stateName),
		filepath.Join(own, "chats"),
		filepath.Join(own, "projects"),
		filepath.Join(h.Dir, ".cursor-server", "projects"),
	}
}

const transcripts = "/agent-transcripts/"

// match recognizes a transcript, unless its session is also in the CLI's database,
// which has more.
func match(name string, head []byte) interop.Guess {
	first, _ := interop.FirstLine(head)
	o, _ := loose.Parse(first)
	inner, _ := loose.Parse(o.Get("message"))
	switch {
	case strings.Contains(name, transcripts) && inStore(name):
	case o.Str("role") != "" && inner.Has("content") && !o.Has("type") && !o.Has("uuid"):
		return interop.KnownBy("its lines have a role, and a message with content")
	case strings.Contains(name, transcripts) && path.Ext(name) == ".jsonl" && bytes.Contains(head, []byte(`"role"`)):
		return interop.PlacedBy("it lies in agent-transcripts")
	}
	return interop.Guess{}
}

// inStore reports whether the session of a transcript is in
// ~/.cursor/chats/<hash>/<session>/store.db too.
func inStore(name string) bool {
	at := strings.LastIndex(name, "/projects/")
	id := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if at < 0 || strings.ContainsAny(id, `*?[\`) {
		return false
	}
	dir := filepath.FromSlash(name[:at])
	if strings.ContainsAny(dir, `*?[`) {
		return false
	}
	found, err := filepath.Glob(filepath.Join(dir, "chats", "*", id, storeName))
	return err == nil && len(found) > 0
}

// unitOf returns the database that a file belongs to, or an old transcript,
// which is a document.
func unitOf(name string) string {
	if strings.Contains(name, transcripts) && path.Ext(name) == ".txt" {
		return name
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		if base := path.Base(file); ok && (base == storeName || base == stateName && !strings.Contains(file, "/workspaceStorage/")) {
			return file
		}
	}
	return ""
}

// look opens a unit.
func look(ctx context.Context, at string) (interop.Unit, error) {
	switch filepath.Base(at) {
	case storeName:
		return openStore(ctx, at)
	case stateName:
		return openState(ctx, at)
	}
	if inStore(filepath.ToSlash(at)) {
		return nil, interop.ErrOther
	}
	return interop.OpenDocument(ctx, at, cutText)
}

func open(f interop.File) interop.Reader {
	at := filepath.ToSlash(f.Path)
	switch {
	case path.Base(at) == storeName:
		return openChat(f)
	case path.Base(at) == stateName:
		return openComposer(f)
	case path.Ext(at) == ".txt":
		return openText(f)
	}
	return openTranscript(f)
}

// below returns the path of a file or unit below ~/.cursor, or of the editor's
// database below its settings folder.
func below(name string) string {
	for _, dir := range []string{"/chats/", "/projects/", "/globalStorage/"} {
		if at := strings.LastIndex(name, dir); at >= 0 {
			return name[at+1:]
		}
	}
	return path.Base(name)
}

func put(ctx context.Context, at string, parts []interop.Part) error {
	if filepath.Ext(at) == ".txt" {
		return interop.PutDocument(ctx, at, parts)
	}
	return interop.PutDatabase(ctx, at, parts)
}
