package interop

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/skein-dev/skein/internal/folder"
)

// add watches a folder and those below it. What cannot be watched is found by
// the next poll.
func (w *watch) add(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && folder.IsTemp(d.Name()) {
			return filepath.SkipDir
		}
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
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if i := slices.Index(w.roots, e.Name); i >= 0 && gone {
		w.roots = slices.Delete(w.roots, i, i+1)
		w.missing.changed = true
	}
	if w.missing.names[e.Name] || gone && w.missing.above[e.Name] {
		w.missing.changed = true
	}
	switch {
	case folder.IsTemp(filepath.Base(e.Name)):
	case gone:
		w.forget(e.Name)
		delete(w.lives, e.Name)
		if _, unit := w.im.unitOf(e.Name); unit != "" {
			w.dirty[e.Name] = true
		}
	case !w.under(e.Name): // it lies beside what is watched, or above
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

// forget ends the watch of a folder that has gone, and of those that were below
// it: others may come in their places.
func (w *watch) forget(dir string) {
	if !w.folders[dir] {
		return
	}
	for path := range w.folders {
		if within(dir, path) {
			_ = w.fs.Remove(path) // the system has ended most of them
			delete(w.folders, path)
		}
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
			eachFile(path, func(file string) { w.dirty[file] = true }) // of a folder its files tell whose it is
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
	byAge(found, born)
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
	return slices.ContainsFunc(w.roots, func(root string) bool {
		if root == unit {
			return true
		}
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}
