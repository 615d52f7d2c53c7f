package crush

import (
	"bytes"
	"testing"

	"github.com/skein-dev/skein/internal/foreign"
)

// FuzzContent checks what must hold for any parts: nothing panics, and a store takes
// every event.
func FuzzContent(f *testing.F) {
	for _, lines := range sources(f) {
		for line := range bytes.Lines(lines) {
			if row, ok, err := foreign.ParseRow(line); err == nil && ok && row.Table == "messages" {
				f.Add(row.Text("parts"))
			}
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		id := int64(1)
		row := foreign.Row{
			Table: "messages", Rowid: &id,
			Columns: []string{"id", "session_id", "role", "parts", "created_at"},
			Values:  []foreign.Value{"m", "s", "assistant", content, int64(1759219200)},
		}
		line := row.AppendLine(nil)
		items(t, "s", append(line, line...))
	})
}
