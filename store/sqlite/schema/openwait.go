package schema

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/files"
	"github.com/skein-dev/skein/store/sqlite/host"
)

// OpenPatience is how long a store that is being opened waits for another
// process that has the whole file locked, such as for the last close, which
// empties the log, or for recovery after a crash. It starts over with every
// write by others: a store that waits its turn among many is not stuck.
const OpenPatience = 30 * time.Second

// errSwapped says that another file was put at the path while one was being opened.
// Some file systems give a file a new number when it is first written to.
var errSwapped = errors.New("another file was put there meanwhile")

// OpenWriter opens the connection that writes, and migrates the file. It waits while
// another process has the whole file locked. The error wraps [skein.ErrLocked] if that
// takes too long; otherwise see [Migrate] and [engine.ClassifyOpen].
func OpenWriter(ctx context.Context, d driver.Driver, path string, steps Steps, notice func(string)) (*engine.Conn, error) {
	start, whole := time.Now(), ctx
	ctx, cancel := WhileChanging(ctx, OpenPatience, func() any { return Moving(path) })
	defer cancel()
	for {
		c, err := tryWriter(ctx, d, path, steps, notice)
		waits := engine.Busy(err) || errors.Is(err, errSwapped)
		switch over := whole.Err() == nil && ctx.Err() != nil; {
		case over && (waits || errors.Is(err, ctx.Err())):
			return nil, host.BlockedBy(path, time.Since(start))
		case !waits:
			return c, err
		}
		_ = sleep.For(ctx, 10*time.Millisecond) // the next try reports that ctx has ended
		if err := whole.Err(); err != nil {
			return nil, err
		}
	}
}

// Moving returns what changes while another process works on the store at path:
// its files, the copy that is made before a migration, and the file that
// showAlive writes.
func Moving(path string) any {
	stamps := fmt.Sprint(files.Written(path))
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return stamps
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, filepath.Base(path)+".v") && strings.HasSuffix(name, notWhole) {
			stamps += fmt.Sprint(name, files.StampOf(filepath.Join(filepath.Dir(path), name)))
		}
	}
	return stamps
}

// AliveEvery is how often a process that is migrating shows that it is alive.
const AliveEvery = OpenPatience / 30

// showAlive keeps the processes that wait for the store at path waiting until
// done is called: a migration may spend a long time sorting, or waiting for the
// disk, without a write to any file that they see.
func showAlive(path string) (done func()) {
	name := path + ".vnext" + notWhole
	beat := func() { _ = os.WriteFile(name, []byte(time.Now().String()), 0o600) } //nolint:errcheck // without it they wait for openPatience
	beat()
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		beats := time.NewTicker(AliveEvery)
		defer beats.Stop()
		for {
			select {
			case <-beats.C:
				beat()
			case <-ended:
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-over
		_ = os.Remove(name) //nolint:errcheck // the next migration does it
	}
}

// WhileChanging returns a context that ends with ctx, or once seen has returned
// the same value for as long as patience.
func WhileChanging(ctx context.Context, patience time.Duration, seen func() any) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		looks := time.NewTicker(patience / 10)
		defer looks.Stop()
		last, since := seen(), time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-looks.C:
				if s := seen(); s != last {
					last, since = s, now
				} else if now.Sub(since) >= patience {
					return
				}
			}
		}
	}()
	return ctx, cancel
}
