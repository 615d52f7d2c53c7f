package crush

import (
	"context"
	"path"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: skein.Origin.Format of what it reads.
const Name = "crush"

const (
	fileName = "crush.db"
	dirName  = ".crush" // of a project, unless its options say otherwise
)

// Format returns the format of crush's databases.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "crush: .crush/crush.db of each project",
		Places: places,
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  below,
		Put:    put,

		Document: interop.IsDatabase,
	}
}

// unit recognizes a database by its name: the program's own, or crush….db for a copy.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		file, ok := strings.CutSuffix(name, suffix)
		if base := path.Base(file); ok && strings.HasPrefix(base, Name) && strings.HasSuffix(base, ".db") {
			return file
		}
	}
	return ""
}

// below keeps the databases of several projects apart.
func below(name string) string {
	if dir := path.Dir(name); path.Base(dir) == dirName {
		return path.Join(path.Base(path.Dir(dir)), dirName, path.Base(name))
	}
	return path.Base(name)
}

func look(ctx context.Context, path string) (interop.Unit, error) {
	return interop.OpenDatabase(ctx, path, interop.Database{Mentions: []string{"parent_session_id"}, Ours: ours})
}

// ours recognizes the program's tables by the columns that they have had from the
// beginning.
func ours(db *foreign.DB) []foreign.Part {
	sessions, ok1 := db.Table("sessions")
	messages, ok2 := db.Table("messages")
	if !ok1 || !ok2 || !sessions.Has("id", "parent_session_id", "title", "message_count", "created_at") ||
		!messages.Has("id", "session_id", "role", "parts", "created_at") {
		return nil
	}
	parts := []foreign.Part{{Table: "sessions", Key: "id"}, {Table: "messages", Key: "session_id"}}
	for _, name := range []string{"files", "read_files"} {
		if t, ok := db.Table(name); ok && t.Has("session_id", "path") {
			parts = append(parts, foreign.Part{Table: name, Key: "session_id"})
		}
	}
	return append(parts, foreign.Part{Table: "goose_db_version"}, foreign.Part{Table: "sqlite_sequence"})
}
