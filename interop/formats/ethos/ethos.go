package ethos

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Name is the name of the format.
const Name = "ethos"

// fileName is the name of the program's database.
const fileName = "sessions.db"

// Format returns the format of Ethos's databases.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "Ethos: ~/.ethos/sessions.db",
		Places: places,
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  path.Base,
		Write:  write,
		Put:    interop.PutDatabase,

		Document: interop.IsDatabase,
		Resume:   resume,
	}
}

func places(h interop.Home) []string {
	dir := h.Env("ETHOS_STATE_DIR")
	if dir == "" {
		dir = filepath.Join(h.Dir, ".ethos")
	}
	return []string{filepath.Join(dir, fileName)}
}

// unit recognizes a database by its name: sessions.db, or ethos….db for a copy.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		if base := path.Base(file); ok && (base == fileName || strings.HasPrefix(base, Name) && strings.HasSuffix(base, ".db")) {
			return file
		}
	}
	return ""
}

// resume returns the command that resumes a session in its folder.
func resume(w interop.Spot, s skein.Session) (command []string, dir string) {
	return []string{"ethos", "--resume", w.ID}, s.Cwd
}

func look(ctx context.Context, path string) (interop.Unit, error) {
	return interop.OpenDatabase(ctx, path, interop.Database{Mentions: []string{"platform"}, Ours: ours})
}

// ours distinguishes the program's tables from those of other programs with the same
// file name, by the columns that it always had.
func ours(db *foreign.DB) []foreign.Part {
	sessions, ok1 := db.Table("sessions")
	messages, ok2 := db.Table("messages")
	if !ok1 || !ok2 || !sessions.Has("id", "key", "platform", "created_at") ||
		!messages.Has("id", "session_id", "role", "content", "timestamp") {
		return nil
	}
	parts := []foreign.Part{{Table: "sessions", Key: "id"}, {Table: "messages", Key: "session_id"}}
	for _, name := range []string{"compressions", "session_context_events"} {
		if t, ok := db.Table(name); ok && t.Has("session_id") {
			parts = append(parts, foreign.Part{Table: name, Key: "session_id"})
		}
	}
	return parts
}
