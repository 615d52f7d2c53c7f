package interop

import (
	"context"
	"io"

	"github.com/skein-dev/skein"
)

// WriteSource writes a file as it was read, from its source records: byte for
// byte, damage and a missing last line feed included. Of a packed file it
// writes what was packed.
//
// The error wraps [skein.ErrNotFound] if the file was never read; others are
// the store's or w's.
func WriteSource(ctx context.Context, s skein.Store, format, path string, w io.Writer) (err error) {
	defer skein.Wrapf(&err, "write source %s %s", format, path)
	for r, err := range s.Records(ctx, format, path, 0) {
		if err != nil {
			return err
		}
		if _, err := w.Write(r.Raw); err != nil {
			return err
		}
	}
	return nil
}
