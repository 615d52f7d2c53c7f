package opencode

import (
	"fmt"

	"github.com/skein-dev/skein/internal/foreign"
)

// ours recognizes the program's database by the tables and columns that it always
// had, and returns what is read of it. Credentials, shares and the log of changes are
// never read: their tables appear only in the schema.
func ours(db *foreign.DB) []foreign.Part {
	sessions, ok := db.Table("session")
	if !ok || !sessions.Has("id", "project_id", "directory", "title", "time_created") {
		return nil
	}
	messages, ok1 := db.Table("message")
	parts, ok2 := db.Table("part")
	if !ok1 || !ok2 || !messages.Has("id", "session_id", "data") || !parts.Has("id", "message_id", "session_id", "data") {
		return nil
	}
	p := order{message: map[string]string{}}
	out := []foreign.Part{
		{Table: "session", Key: "id"},
		{Table: "message", Key: "session_id", Place: p.ofMessage},
		{Table: "part", Key: "session_id", Place: p.ofPart},
	}
	for _, name := range []string{"session_message", "todo"} {
		if t, ok := db.Table(name); ok && t.Has("session_id") {
			out = append(out, foreign.Part{Table: name, Key: "session_id", Place: last})
		}
	}
	known := map[string]bool{"session": true, "message": true, "part": true, "session_message": true, "todo": true}
	for _, t := range db.Tables() {
		switch {
		case known[t.Name]:
		case t.Name == "project", t.Name == "migration", t.Name == "__drizzle_migrations", t.Name == "data_migration":
			out = append(out, foreign.Part{Table: t.Name})
		default:
			out = append(out, foreign.Part{Table: t.Name, Empty: true})
		}
	}
	return out
}

// Parts come after their message, and messages in the program's order; what belongs
// to the session as a whole comes last, where new rows do not move it far.
type order struct {
	message map[string]string // ID → position
}

func (p order) ofMessage(r foreign.Row) string {
	id := r.Text("id")
	at := fmt.Sprintf("1%020d %s", max(r.Int("time_created"), 0), id)
	p.message[id] = at
	return at
}

func (p order) ofPart(r foreign.Row) string {
	at, ok := p.message[r.Text("message_id")]
	if !ok {
		return "2" // its message is missing
	}
	return at + "\x00" + r.Text("id")
}

func last(r foreign.Row) string {
	if r.Table == "session_message" {
		return fmt.Sprintf("3%020d", max(r.Int("seq"), 0))
	}
	return fmt.Sprintf("4%020d", max(r.Int("position"), 0))
}
