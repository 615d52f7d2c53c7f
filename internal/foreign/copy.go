package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skein-dev/skein/internal/sleep"
)

// MaxFile is the longest database, or -wal, that is copied, in bytes.
const MaxFile = 16 << 30

// ErrBusy says that a database was constantly written to while it was copied.
var ErrBusy = errors.New("it is being written all the time")

// copyName is the name of a copy in its folder.
const copyName = "copy.db"

// settled is how old a file's mtime must be, so that a later write is sure to change
// it: systems count in steps of up to 16 ms.
const settled = 20 * time.Millisecond

// tries is how often a copy is tried.
const tries = 20

// copyAll copies the database at path to dir, as it was at one moment.
func copyAll(ctx context.Context, path, dir string) error {
	for range tries {
		done, err := copyOnce(ctx, path, dir)
		if done || err != nil {
			return err
		}
		if err := sleep.For(ctx, settled); err != nil {
			return err
		}
	}
	return ErrBusy
}

// copyOnce copies once and reports whether the copied files belong together.
func copyOnce(ctx context.Context, path, dir string) (bool, error) {
	before, err := lookAt(path)
	if err != nil {
		return false, err
	}
	if young := settled - time.Since(time.Unix(0, before.changed())); young > 0 && young <= settled {
		if err := sleep.For(ctx, young); err != nil {
			return false, err
		}
		if before, err = lookAt(path); err != nil {
			return false, err
		}
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		err := copyFile(ctx, path+suffix, filepath.Join(dir, copyName+suffix))
		if suffix != "" && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return false, err
		}
	}
	after, err := lookAt(path)
	return before == after, err
}

// A filesState is the state of a database's files. Only the beginning of the -wal
// counts: what is appended while it is copied is not part of the database before the
// frame that commits it.
type filesState struct {
	main, journal fileStamp
	wal           [32]byte
}

func (s filesState) changed() int64 { return max(s.main.mtime, s.journal.mtime) }

// A fileStamp changes when a file does.
type fileStamp struct {
	there bool
	size  int64
	mtime int64 // nanoseconds since 1970
	head  [100]byte
}

func lookAt(path string) (s filesState, err error) {
	if s.main, err = markOf(path); err != nil {
		return s, err
	}
	if s.journal, err = markOf(path + "-journal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	w, err := markOf(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	copy(s.wal[:], w.head[:])
	return s, err
}

func markOf(path string) (m fileStamp, err error) {
	f, info, err := open(path)
	if err != nil {
		return m, err
	}
	defer f.Close()
	m = fileStamp{there: true, size: info.Size(), mtime: info.ModTime().UnixNano()}
	if _, err := f.ReadAt(m.head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return m, err
	}
	return m, nil
}

// open opens a regular file for reading.
func open(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s: no regular file", path)
	case info.Size() > MaxFile:
		err = fmt.Errorf("%s: %d bytes, at most %d are read", path, info.Size(), int64(MaxFile))
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// copyFile copies what from has now, or removes to if from does not exist.
func copyFile(ctx context.Context, from, to string) (err error) {
	f, info, err := open(from)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.Join(err, ignoreMissing(os.Remove(to)))
		}
		return err
	}
	defer f.Close()
	t, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	for left := info.Size(); left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.CopyN(t, f, min(left, 64<<20))
		if left -= n; errors.Is(err, io.EOF) {
			return nil // it was truncated; the caller's next check detects that
		} else if err != nil {
			return err
		}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
