package crush

import (
	"bytes"
	"context"
	"io"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// put writes the row of a session after those of its messages: a trigger counts each
// message that is inserted, if its session exists.
func put(ctx context.Context, path string, parts []interop.Part) error {
	for i := range parts {
		b, err := io.ReadAll(parts[i].Lines)
		if err != nil {
			return err
		}
		var before, after []byte
		for line := range bytes.Lines(b) {
			if row, ok, err := foreign.ParseRow(line); err == nil && ok && row.Table == "sessions" {
				after = append(after, line...)
				continue
			}
			before = append(before, line...)
		}
		parts[i].Lines = bytes.NewReader(append(before, after...))
	}
	return interop.PutDatabase(ctx, path, parts)
}
