package goose

import (
	"bytes"
	"testing"

	"github.com/skein-dev/skein/internal/foreign"
)

// FuzzContent checks what must hold for any content_json: nothing panics, and a store
// takes every event.
func FuzzContent(f *testing.F) {
	for _, lines := range sources(f) {
		for line := range bytes.Lines(lines) {
			if row, ok, err := foreign.ParseRow(line); err == nil && ok && row.Table == "messages" {
				f.Add(row.Text("content_json"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		id := int64(1)
		row := foreign.Row{
			Table: "messages", Rowid: &id,
			Columns: []string{"id", "message_id", "session_id", "role", "content_json", "created_timestamp", "metadata_json"},
			Values:  []foreign.Value{int64(1), "m", "s", "user", content, int64(1759219200), content},
		}
		line := row.AppendLine(nil)
		items(t, "s", append(line, line...))
	})
}
