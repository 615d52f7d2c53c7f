package openaiagents

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// Name is the format's name: skein.Origin.Format of what it reads.
const Name = "openai-agents"

const messages = "agent_messages"

// Format returns the format of the databases of OpenAI's Agents SDK.
func Format() interop.Format {
	return interop.Format{
		Name:   Name,
		Doc:    "OpenAI Agents SDK: SQLite files of its sessions, wherever its program keeps them",
		Places: func(interop.Home) []string { return nil }, // there is no usual place
		Unit:   unit,
		Look:   look,
		Open:   open,
		Below:  path.Base,
		Put:    interop.PutDatabase,

		Document: interop.IsDatabase,
	}
}

// unit accepts any database by its name's extension: programs name theirs as they
// like.
func unit(name string) string {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if file, ok := strings.CutSuffix(name, suffix); ok && slices.Contains([]string{".db", ".sqlite", ".sqlite3"}, path.Ext(file)) {
			return file
		}
	}
	return ""
}

func look(ctx context.Context, path string) (interop.Unit, error) {
	return interop.OpenDatabase(ctx, path, interop.Database{Mentions: []string{messages}, Ours: ours})
}

// ours returns the tables: the branches before the messages.
func ours(db *foreign.DB) []foreign.Part {
	sessions, ok1 := db.Table("agent_sessions")
	items, ok2 := db.Table(messages)
	if !ok1 || !ok2 || !sessions.Has("session_id") || !items.Has("id", "session_id", "message_data") {
		return nil
	}
	parts := []foreign.Part{{Table: "agent_sessions", Key: "session_id"}}
	for _, name := range []string{"message_structure", messages, "turn_usage"} {
		if t, ok := db.Table(name); ok && t.Has("session_id") {
			parts = append(parts, foreign.Part{Table: name, Key: "session_id"})
		}
	}
	return append(parts, foreign.Part{Table: "sqlite_sequence"})
}
