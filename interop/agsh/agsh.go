package agsh

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: [skein.Origin.Format] of what it reads.
const Name = "agsh"

const fileName = "sessions.db"

// Format returns the format of agsh's databases.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "agsh's sessions.db",
		Places: places,
		Match:  func(string, []byte) bool { return false },
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  path.Base,
		Put:    interop.PutDatabase,
	}
}

func places(h interop.Home) []string {
	if dir := h.Env("AGSH_DATA_DIR"); dir != "" {
		return []string{filepath.Join(dir, fileName)}
	}
	data := h.Env("XDG_DATA_HOME")
	if data == "" {
		data = filepath.Join(h.Dir, ".local", "share")
	}
	return []string{filepath.Join(data, "agsh", fileName)}
}

func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if file, ok := strings.CutSuffix(name, suffix); ok && path.Base(file) == fileName {
			return file
		}
	}
	return ""
}

func look(ctx context.Context, path string) (interop.Unit, error) {
	return interop.OpenDatabase(ctx, path, interop.Database{Ours: ours})
}

// ours tells agsh's tables from those of others that call their file the same.
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
