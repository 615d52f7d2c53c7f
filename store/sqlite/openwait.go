package sqlite

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
	"github.com/skein-dev/skein/store/sqlite/host"
)

// openPatience is how long a store that is being opened waits for another
// process that has the whole file locked, such as for the last close, which
// empties the log, or for recovery after a crash. It starts over with every
// write by others: a store that waits its turn among many is not stuck.
const openPatience = 30 * time.Second

// errSwapped says that another file was put at the path while one was being opened.
// Some file systems give a file a new number when it is first written to.
var errSwapped = errors.New("another file was put there meanwhile")

// openWriter is tryWriter, repeated while SQLite gives up waiting for another
// process.
func openWriter(ctx context.Context, d driver.Driver, path string, o Options) (*engine.Conn, error) {
	start, whole := time.Now(), ctx
	ctx, cancel := whileChanging(ctx, openPatience, func() any { return moving(path) })
	defer cancel()
	for {
		c, err := tryWriter(ctx, d, path, o)
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

// A stamp changes with every write to a file.
type stamp struct {
	size     int64
	modified time.Time
}

// stampOf returns the stamp of a file, without opening it.
func stampOf(path string) (s stamp) {
	if st, err := os.Stat(path); err == nil {
		s.size, s.modified = st.Size(), st.ModTime()
	}
	return s
}

// written returns the stamps of the store's files at path.
func written(path string) [2]stamp {
	names := newPaths(path).names
	return [2]stamp{stampOf(names[0]), stampOf(names[1])}
}

// moving returns what changes while another process works on the store at path:
// its files, the copy that is made before a migration, and the file that
// showAlive writes.
func moving(path string) any {
	stamps := fmt.Sprint(written(path))
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return stamps
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, filepath.Base(path)+".v") && strings.HasSuffix(name, notWhole) {
			stamps += fmt.Sprint(name, stampOf(filepath.Join(filepath.Dir(path), name)))
		}
	}
	return stamps
}

// aliveEvery is how often a process that is migrating shows that it is alive.
const aliveEvery = openPatience / 30

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
		beats := time.NewTicker(aliveEvery)
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

// whileChanging returns a context that ends with ctx, or once seen has returned
// the same value for as long as patience.
func whileChanging(ctx context.Context, patience time.Duration, seen func() any) (context.Context, context.CancelFunc) {
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
