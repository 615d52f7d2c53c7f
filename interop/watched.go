package interop

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// add watches a folder and those below it. What cannot be watched is found by
// the next poll.
func (w *watch) add(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && !w.folders[path] && w.fs.Add(path) == nil {
			w.folders[path] = true
		}
		if err == nil && d.Type().IsRegular() {
			w.dirty[path] = true
		}
		return nil
	})
	if info, err := os.Lstat(root); err == nil && !info.IsDir() {
		_ = w.fs.Add(filepath.Dir(root)) // the poll sees what this cannot
	}
}

func (w *watch) note(e fsnotify.Event) {
	switch {
	case e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename):
		delete(w.folders, e.Name)
		delete(w.lives, e.Name)
		if _, unit := w.im.unitOf(e.Name); unit != "" {
			w.dirty[e.Name] = true
		}
	case e.Has(fsnotify.Create):
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			w.add(e.Name)
			return
		}
		fallthrough
	case e.Has(fsnotify.Write):
		w.dirty[e.Name] = true
	}
}

// drain takes the events that have come meanwhile.
func (w *watch) drain() {
	for {
		select {
		case e, ok := <-w.fs.Events:
			if !ok {
				return
			}
			w.note(e)
		default:
			return
		}
	}
}

// takeDirty reads the files that have changed, the oldest first.
func (w *watch) takeDirty(ctx context.Context) error {
	var found []candidate
	for path, at := range w.later {
		if !time.Now().Before(at) {
			delete(w.later, path)
			w.dirty[path] = true
		}
	}
	for path := range w.dirty {
		_, unit := w.im.unitOf(path)
		if unit != "" && time.Now().Before(w.rest[unit]) {
			continue
		}
		delete(w.dirty, path)
		c, ok := look(path)
		if !ok && unit != "" { // something of it is gone
			c, ok = candidate{path: path}, true
		}
		if ok && w.under(path) {
			found = append(found, c)
		}
	}
	byAge(found)
	return w.takeAll(ctx, found, nil)
}

// wait makes a unit that is being written be looked at again when its end is
// believed, though nothing more is written.
func (w *watch) wait(c candidate) {
	w.later[c.path] = time.Unix(0, c.mtime).Add(TornFor)
}

// wake sets the timer for what is to be looked at later.
func (w *watch) wake() {
	next := pollEvery
	if len(w.dirty) > 0 {
		next = restFor
	}
	for _, at := range w.later {
		next = min(next, time.Until(at))
	}
	w.again.Reset(max(next, time.Millisecond))
}

// under reports whether path is one that is watched: with a database its -wal
// is.
func (w *watch) under(path string) bool {
	_, unit := w.im.unitOf(path)
	return slices.ContainsFunc(w.paths, func(root string) bool {
		if root == unit {
			return true
		}
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}
