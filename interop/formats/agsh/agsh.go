package agsh

import (
	"context"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "agsh"

// The names of the program's file, before and since it was renamed meka.
const (
	fileName = "sessions.db"
	mekaFile = "meka.db"
)

// Format returns the format of agsh's and meka's databases.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "agsh and meka: sessions.db, meka.db",
		Places: func(h interop.Home) []string { return placesOn(runtime.GOOS, h) },
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  path.Base,
		Write:  write,
		Put:    interop.PutDatabase,

		Document: interop.IsDatabase,
		Lock:     lock,
		Resume:   resume,
	}
}

// resume returns the command that resumes a session in its folder. meka's differs
// from that of agsh 0.1 to 0.9.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	if strings.HasPrefix(path.Base(w.Path), "meka") {
		return []string{"meka", "--resume", w.ID}, s.Cwd
	}
	return []string{"agsh", "-s", w.ID}, s.Cwd
}

// placesOn returns the usual places on an operating system.
func placesOn(system string, h interop.Home) []string {
	return []string{
		filepath.Join(dataDir(system, h, "AGSH_DATA_DIR", "agsh"), fileName),
		filepath.Join(dataDir(system, h, "MEKA_DATA_DIR", "meka"), mekaFile),
	}
}

func dataDir(system string, h interop.Home, variable, name string) string {
	if dir := h.Env(variable); dir != "" {
		return dir
	}
	data := h.Env("XDG_DATA_HOME")
	switch {
	case system == "darwin":
		data = filepath.Join(h.Dir, "Library", "Application Support")
	case system == "windows":
		if data = h.Env("APPDATA"); data == "" {
			data = filepath.Join(h.Dir, "AppData", "Roaming")
		}
	case data == "":
		data = filepath.Join(h.Dir, ".local", "share")
	}
	return filepath.Join(data, name)
}

// unit recognizes a database by its name: the program's own, or agsh….db and meka….db
// for a copy.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		base := path.Base(file)
		if ok && (base == fileName || strings.HasSuffix(base, ".db") && (strings.HasPrefix(base, Name) || strings.HasPrefix(base, "meka"))) {
			return file
		}
	}
	return ""
}

func look(ctx context.Context, path string) (interop.Unit, error) {
	named := unit(filepath.ToSlash(path)) != ""
	mentions := []string{"session_id"}
	if !named {
		mentions = []string{"locked_by", "capabilities_json"}
	}
	return interop.OpenDatabase(ctx, path, interop.Database{Mentions: mentions, Ours: func(db *foreign.DB) []foreign.Part {
		if sessions, _ := db.Table("sessions"); !named && !sessions.Has("locked_by") && !sessions.Has("permission", "capabilities_json") {
			return nil // too common; under another name, something that only agsh has is required
		}
		return ours(db)
	}})
}

// ours distinguishes agsh's tables from those of other programs with the same file
// name.
func ours(db *foreign.DB) []foreign.Part {
	sessions, ok1 := db.Table("sessions")
	messages, ok2 := db.Table("messages")
	if !ok1 || !ok2 || !sessions.Has("id", "created_at", "updated_at") || sessions.Has("key") ||
		!messages.Has("id", "session_id", "role", "content", "created_at") {
		return nil
	}
	parts := []foreign.Part{{Table: "sessions", Key: "id"}, {Table: "messages", Key: "session_id"}}
	if t, ok := db.Table("tool_outputs"); ok && t.Has("session_id") {
		parts = append(parts, foreign.Part{Table: "tool_outputs", Key: "session_id"})
	}
	return append(parts, foreign.Part{Table: "sqlite_sequence"})
}
