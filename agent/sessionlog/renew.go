package sessionlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
)

// renew replaces the file with a newly computed one.
func (w *writer) renew(ctx context.Context, s skein.Session) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(w.path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, discard(temp)) }()
	if err := w.compute(ctx, s, temp); err != nil {
		return err
	}
	if w.size, err = temp.Seek(0, io.SeekCurrent); err != nil {
		return err
	}
	return w.replace(temp)
}

// compute writes the lines of s to temp. Those of events that are damaged in the store are
// the ones in the file.
func (w *writer) compute(ctx context.Context, s skein.Session, temp *os.File) (err error) {
	old, _, err := openLog(w.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	out := bufio.NewWriterSize(temp, 256<<10)
	lines := newKeeper(s, old)
	last, err := eachLine(w.store.Events(ctx, s.ID, s.Base), s, lines, func(b []byte) error {
		_, err := out.Write(b)
		return err
	}, func() error {
		out.Reset(temp)
		_, err := temp.Seek(0, io.SeekStart)
		return errors.Join(err, temp.Truncate(0))
	})
	w.lines, w.last = lines.Encoder, last
	return errors.Join(err, out.Flush())
}

// openLog opens the log at path. Without a file there, the log is empty, and missing.
func openLog(path string) (f io.ReadSeekCloser, missing bool, err error) {
	f, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return emptyLog{strings.NewReader("")}, true, nil
	}
	return f, false, err
}

type emptyLog struct{ io.ReadSeeker }

func (emptyLog) Close() error { return nil }

// replace puts temp in the place of the file, unless their content is equal.
func (w *writer) replace(temp *os.File) error {
	_, err := os.Stat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && w.size == 0:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil:
		same, err := equalFiles(w.path, temp)
		if err != nil || same {
			return err
		}
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), w.path)
}

// equalFiles reports whether the file at path has the content of temp.
func equalFiles(path string, temp *os.File) (same bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(f, a)
		m, errB := io.ReadFull(temp, b)
		switch {
		case !bytes.Equal(a[:n], b[:m]):
			return false, nil
		case ends(errA) && ends(errB):
			return true, nil
		case errA != nil || errB != nil:
			return false, errors.Join(errA, errB)
		}
	}
}

// ends reports whether err says that a file ended.
func ends(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// discard closes and removes temp, if it is still there.
func discard(temp *os.File) error {
	if err := temp.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	if err := os.Remove(temp.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// eachLine passes the lines of the events of session s to add, those of one event at a
// time, and calls restart where the log is emptied. It returns what the next event
// follows.
func eachLine(events iter.Seq2[skein.Event, error], s skein.Session, lines *lineKeeper, add func([]byte) error, restart func() error) (last skein.Seq, err error) {
	last = s.Base
	var b []byte
	for e, err := range events {
		if err != nil {
			return 0, err
		}
		if b, err = lines.add(b[:0], e); err != nil {
			return 0, err
		}
		last, err = e.Seq, add(b)
		if cleared(e) {
			err = restart()
		}
		if err != nil {
			return 0, err
		}
	}
	return last, nil
}
