package sessionlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
)

// Sweep removes the logs of sessions that were purged, by whatever process. It
// keeps those of sessions that the store does not know: they may belong to
// another store.
//
// The error is the file system's or the store's.
func (l *Logs) Sweep(ctx context.Context) (err error) {
	if l == nil {
		return nil
	}
	defer skein.Wrapf(&err, "logs: sweep")
	for path, err := range logs(l.dir) {
		if err != nil {
			return err
		}
		if err := l.sweep(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes the log at path if its session was purged.
func (l *Logs) sweep(ctx context.Context, path string) error {
	// Most sessions exist, and the log's name has their ID.
	_, err := l.store.Session(ctx, named(path))
	if !errors.Is(err, skein.ErrNotFound) {
		return err
	}
	id, ok, err := sessionOf(path)
	if err != nil || !ok {
		return err
	}
	dead, err := deleted(ctx, l.store, id)
	if err != nil || !dead {
		return err
	}
	return gone(os.Remove(path))
}

// named returns the session ID in the name of a log, if the ID was not changed
// to make the name.
func named(path string) skein.SessionID {
	return skein.SessionID(strings.TrimSuffix(filepath.Base(path), ext))
}

// deleted reports whether session id was purged.
func deleted(ctx context.Context, s skein.Store, id skein.SessionID) (bool, error) {
	_, err := s.Session(ctx, id)
	if !errors.Is(err, skein.ErrNotFound) {
		return false, err
	}
	// A store checks whether an ID was purged before it checks that a session
	// does not begin with a note.
	probe := skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "probe"})
	_, err = s.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{probe}})
	switch {
	case errors.Is(err, skein.ErrDeleted):
		return true, nil
	case errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrConflict), errors.Is(err, skein.ErrExists),
		errors.Is(err, skein.ErrReadOnly): // then it is unknown
		return false, nil
	}
	return false, err
}

// logs yields the paths of the logs below dir, in order.
func logs(dir string) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return gone(err)
			}
			if filepath.Ext(path) == ext && d.Type().IsRegular() && !yield(path, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield("", err)
		}
	}
}

// maxFirst is the longest first line that is read, in bytes.
const maxFirst = 64 << 10

// sessionOf returns the ID of the session of the log at path: from its first
// line, else from its name. It reports false if neither has it.
func sessionOf(path string) (id skein.SessionID, ok bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, gone(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, maxFirst))
	if err != nil {
		return "", false, err
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var first struct {
		Session skein.SessionID `json:"session_id"`
	}
	if json.Unmarshal(line, &first) != nil || first.Session.Check() != nil {
		first.Session = named(path)
	}
	return first.Session, fileName(first.Session) == filepath.Base(path), nil
}
