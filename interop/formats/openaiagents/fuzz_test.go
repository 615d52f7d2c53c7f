package openaiagents

import (
	"bytes"
	"testing"

	"github.com/skein-dev/skein/internal/foreign"
)

// FuzzContent checks what must hold for any message_data: nothing panics, and a store
// takes every event.
func FuzzContent(f *testing.F) {
	for _, lines := range sources(f) {
		for line := range bytes.Lines(lines) {
			if row, ok, err := foreign.ParseRow(line); err == nil && ok && row.Table == "agent_messages" {
				f.Add(row.Text("message_data"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		id := int64(1)
		row := foreign.Row{
			Table: "agent_messages", Rowid: &id,
			Columns: []string{"id", "session_id", "message_data", "created_at"},
			Values:  []foreign.Value{int64(1), "s", content, "2026-03-05 08:00:00"},
		}
		line := row.AppendLine(nil)
		items(t, "s", append(line, line...))
	})
}
