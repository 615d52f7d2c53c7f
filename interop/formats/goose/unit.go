package goose

import (
	"context"
	"io"
	"strings"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// counted is a database that knows which sessions have requests in the ledger: the
// session's row comes first, and its total counts the same requests.
type counted struct {
	interop.Unit
	of map[string]bool // sessions
}

// ours distinguishes the program's tables from those of other programs with the same
// file name. The columns are those of the first version; columns of later ones are
// read if they exist.
func (c *counted) ours(ctx context.Context, db *foreign.DB) []foreign.Part {
	sessions, ok1 := db.Table("sessions")
	messages, ok2 := db.Table("messages")
	if !ok1 || !ok2 || !sessions.Has("id", "working_dir", "created_at", "updated_at") ||
		!messages.Has("id", "session_id", "role", "content_json", "created_timestamp") {
		return nil
	}
	parts := []foreign.Part{{Table: "sessions", Key: "id"}, {Table: "messages", Key: "session_id"}}
	if t, ok := db.Table("usage_ledger"); ok && t.Has("id", "session_id") {
		parts = append(parts, foreign.Part{Table: "usage_ledger", Key: "session_id"})
		// A damaged page is found again, and reported, when everything is read.
		_ = db.Rows(ctx, "usage_ledger", "", func(r foreign.Row) error {
			c.of[r.Text("session_id")] = true
			return nil
		})
	}
	return append(parts, foreign.Part{Table: "schema_version"}, foreign.Part{Table: "sqlite_sequence"})
}

// ledger is the line before a session's rows that says that its requests are counted
// individually. It is not written to a database.
const ledger = `{"goose":"ledger"}` + "\n"

// Open implements [interop.Unit]; errors are its.
func (c *counted) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := c.Unit.Open(ctx, name)
	if err != nil || name == "" || !c.of[name] {
		return r, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(ledger), r), r}, nil
}
