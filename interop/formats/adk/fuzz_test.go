package adk

import (
	"bytes"
	"testing"

	"github.com/skein-dev/skein/internal/foreign"
)

// FuzzContent checks what must hold for any event_data: nothing panics, and a store
// takes every event.
func FuzzContent(f *testing.F) {
	for _, lines := range sources(f) {
		for line := range bytes.Lines(lines) {
			if row, ok, err := foreign.ParseRow(line); err == nil && ok && row.Table == "events" {
				f.Add(row.Text("event_data"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		id := int64(1)
		row := foreign.Row{
			Table: "events", Rowid: &id,
			Columns: []string{"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp", "event_data"},
			Values:  []foreign.Value{"e", "app", "ada", "s", "i", 1.5, content},
		}
		line := row.AppendLine(nil)
		items(t, "app/ada/s", append(line, line...))
	})
}
