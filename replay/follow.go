package replay

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Follow yields the lines of the file at path, then those that are appended, until
// ctx ends; then what is left, once more. The file need not exist yet, but its
// folder must. Lines are those of a [Tail].
//
// It yields at most one error, last: that the folder cannot be watched, or the
// file's.
func Follow(ctx context.Context, path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if err := follow(ctx, path, yield); err != nil && !errors.Is(err, errStop) {
			yield(Line{}, err)
		}
	}
}

// lookAnyway is how often a file without notifications is checked: some file systems,
// such as network file systems, send none.
const lookAnyway = 2 * time.Second

func follow(ctx context.Context, path string, yield func(Line, error) bool) (err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Add(filepath.Dir(path)); err != nil {
		return err
	}
	tick := time.NewTicker(lookAnyway)
	defer tick.Stop()
	for t := NewTail(path); ; {
		done := ctx.Err() != nil
		for l, err := range t.Lines() {
			if err != nil {
				return err
			}
			if !yield(l, nil) {
				return errStop
			}
		}
		if done {
			return nil
		}
		if err := heard(ctx, w, tick.C, filepath.Base(path)); err != nil {
			return err
		}
	}
}

// heard returns when the file called name may have changed, or ctx ends.
func heard(ctx context.Context, w *fsnotify.Watcher, tick <-chan time.Time, name string) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
			return nil
		case e := <-w.Events:
			if filepath.Base(e.Name) == name {
				return nil
			}
		case err := <-w.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return err
			}
			return nil
		}
	}
}
