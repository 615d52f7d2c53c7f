package sqlite

import (
	"context"
	"database/sql/driver"
	"time"
)

// openFor is how long a store that is being opened waits for another process
// that has the whole file: for the last close, which empties the log, or for a
// recovery after a crash.
const openFor = 30 * time.Second

// openWriter is tryWriter, again where SQLite has given up waiting for another
// process.
func openWriter(ctx context.Context, d driver.Driver, path string, o Options) (*conn, error) {
	start, whole := time.Now(), ctx
	ctx, cancel := context.WithTimeout(ctx, openFor)
	defer cancel()
	for {
		c, err := tryWriter(ctx, d, path, o)
		if over := whole.Err() == nil && ctx.Err() != nil; over && err != nil {
			return nil, blockedBy(path, time.Since(start))
		}
		if !busy(err) {
			return c, err
		}
		again := time.NewTimer(10 * time.Millisecond)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
		}
	}
}
