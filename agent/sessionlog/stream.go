package sessionlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Streamed is an entry of one of several logs.
type Streamed struct {
	Log string // path of the file below the folder, with slashes and without .jsonl: USER/SESSION
	Entry
}

// Stream yields the entries of all logs below the folder dir, one log after the
// other, the least recently changed first; then new entries, of old logs and of
// new ones, until ctx ends. If the folder does not exist, Stream waits for it.
//
// It yields at most one error, last: that of the file system.
func Stream(ctx context.Context, dir string) iter.Seq2[Streamed, error] {
	return func(yield func(Streamed, error) bool) {
		s := allLogs{dir: dir, logs: map[string]*followed{}, yield: yield}
		if err := s.run(ctx); err != nil && !errors.Is(err, errStop) {
			yield(Streamed{}, fmt.Errorf("log stream: %w", err))
		}
	}
}

// errStop says that the caller wants no more entries.
var errStop = errors.New("stop")

// lookAnyway is how often all logs are checked even without a notification.
const lookAnyway = 2 * time.Second

// A followed is a log that is read as it grows.
type followed struct {
	path string
	tail *Tail
	seen fs.FileInfo // as of the last read
}

type allLogs struct {
	dir   string
	logs  map[string]*followed // by path
	watch *fsnotify.Watcher
	yield func(Streamed, error) bool
}

func (s *allLogs) run(ctx context.Context) (err error) {
	if s.watch, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.watch.Close()) }()
	tick := time.NewTicker(lookAnyway)
	defer tick.Stop()
	for {
		done := ctx.Err() != nil
		if err := s.look(); err != nil {
			return err
		}
		if done {
			return nil
		}
		if err := s.wait(ctx, tick.C); err != nil {
			return err
		}
	}
}

// wait returns when something below the folder may have changed, or ctx ends.
func (s *allLogs) wait(ctx context.Context, tick <-chan time.Time) error {
	select {
	case <-ctx.Done():
	case <-tick:
	case <-s.watch.Events:
		for { // a burst of changes is handled at once
			select {
			case <-s.watch.Events:
				continue
			default:
				return nil
			}
		}
	case err := <-s.watch.Errors:
		if !errors.Is(err, fsnotify.ErrEventOverflow) {
			return err
		}
	}
	return nil
}

// look yields the new entries.
func (s *allLogs) look() error {
	changed, err := s.find()
	if err != nil {
		return err
	}
	slices.SortFunc(changed, func(a, b *followed) int {
		if c := a.seen.ModTime().Compare(b.seen.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	for _, f := range changed {
		if err := s.read(f); err != nil {
			return err
		}
	}
	return nil
}

// find returns the logs that may have changed since they were read, and
// watches the folders that they are in.
func (s *allLogs) find() (changed []*followed, err error) {
	if err := s.watchFor(s.dir); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile, or not created yet
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return gone(s.watch.Add(path))
		case filepath.Ext(path) != ext || !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return gone(err)
		}
		f := s.logs[path]
		if f == nil {
			f = &followed{path: path, tail: NewTail(path)}
			s.logs[path] = f
		}
		if f.seen == nil || !os.SameFile(f.seen, info) || f.seen.Size() != info.Size() || !f.seen.ModTime().Equal(info.ModTime()) {
			f.seen = info
			changed = append(changed, f)
		}
		return nil
	})
	return changed, err
}

// gone returns err, unless it says that a file does not exist any more.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// watchFor watches dir or, if it does not exist, the nearest folder above it.
func (s *allLogs) watchFor(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a folder", dir)
		case err == nil:
			return gone(s.watch.Add(dir))
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		above := filepath.Dir(dir)
		if above == dir {
			return err
		}
		dir = above
	}
}

// read yields the entries of f whose lines have ended since the last call.
func (s *allLogs) read(f *followed) error {
	rel, err := filepath.Rel(s.dir, f.path)
	if err != nil {
		return err
	}
	log := strings.TrimSuffix(filepath.ToSlash(rel), ext)
	for e, err := range f.tail.Entries() {
		if err != nil {
			return err
		}
		if !s.yield(Streamed{log, e}, nil) {
			return errStop
		}
	}
	return nil
}
