package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/skein-dev/skein/internal/fileid"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
)

// add watches a folder and those below it. What cannot be watched is found by
// the next poll.
func (w *watch) add(root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && folder.IsTemp(d.Name()) {
			return filepath.SkipDir
		}
		if err == nil && d.IsDir() && !w.folders[path] {
			w.folders[path] = w.fs.Add(path) == nil
			w.blind = w.blind || !w.folders[path]
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

// lostAfter is how long after a removal a watch looks for what is gone: what was moved
// is at its new place by then, and agents remove many files one after the other.
const lostAfter = time.Second

func (w *watch) note(e fsnotify.Event) {
	if w.board != "" && filepath.Dir(e.Name) == w.board {
		if e.Has(fsnotify.Create) && hooknews.IsNews(e.Name) {
			w.heard(e.Name)
		}
		return
	}
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
		if w.lost.IsZero() {
			w.lost = time.Now().Add(lostAfter)
			w.wake()
		}
		if _, unit := w.im.Known.Formats.UnitOf(e.Name); unit != "" {
			w.dirty[e.Name] = true
		}
	case !w.under(e.Name): // it is beside or above what is watched
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

// hear watches for the news of hooks. If that is not possible, the poll finds what
// they would have told.
func (w *watch) hear(b hooknews.Board) {
	if b == "" || os.MkdirAll(string(b), 0o700) != nil {
		return
	}
	if dir, err := filepath.EvalSymlinks(string(b)); err == nil && w.fs.Add(dir) == nil {
		w.board = dir
	}
}

// heard has the file looked at that a hook named. A file that is not below a root
// becomes one: an agent may keep its sessions where only it knows.
func (w *watch) heard(path string) {
	n, err := hooknews.Read(path)
	if err != nil || n.File == "" {
		return
	}
	file, err := filepath.EvalSymlinks(n.File)
	if err != nil {
		return // the agent has not written it yet
	}
	if !w.under(file) {
		w.asked = append(w.asked, file)
		w.missing.changed = true
	}
	w.dirty[file] = true
}

// forget ends the watch of a folder that no longer exists, and of those that were below
// it: others may replace them.
func (w *watch) forget(dir string) {
	if !w.folders[dir] {
		return
	}
	for path := range w.folders {
		if disk.Within(dir, path) {
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
	var found []disk.File
	for path, at := range w.later {
		if !time.Now().Before(at) {
			delete(w.later, path)
			discover.EachFile(path, func(file string) { w.dirty[file] = true }) // a folder's files show which unit it belongs to
		}
	}
	for path := range w.dirty {
		_, unit := w.im.Known.Formats.UnitOf(path)
		if unit != "" && time.Now().Before(w.rest[unit]) {
			continue
		}
		delete(w.dirty, path)
		c, ok := disk.Look(path)
		if !ok && unit != "" { // part of it is gone
			c, ok = disk.File{Path: path}, true
		}
		if ok && w.under(path) {
			found = append(found, c)
		}
	}
	disk.ByAge(found, fileid.Born)
	return w.takeAll(ctx, found, nil)
}

// Wait schedules another look at a unit that is being written, for when it counts as
// complete even if nothing more is written.
func (w *watch) Wait(c disk.File) {
	w.later[c.Path] = time.Unix(0, c.Mtime).Add(interop.TornFor)
}

// wake sets the timer for what is to be looked at later.
func (w *watch) wake() {
	next := discover.PollEvery
	if len(w.dirty) > 0 {
		next = restFor
	}
	for _, at := range w.later {
		next = min(next, time.Until(at))
	}
	if !w.lost.IsZero() {
		next = min(next, time.Until(w.lost))
	}
	w.again.Reset(max(next, time.Millisecond))
}

// under reports whether path is watched: with a database, so is its -wal.
func (w *watch) under(path string) bool {
	_, unit := w.im.Known.Formats.UnitOf(path)
	return slices.ContainsFunc(w.roots, func(root string) bool {
		if root == unit {
			return true
		}
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	})
}

// A missing holds what a watch waits for: paths that do not exist yet, or no
// longer do.
type missing struct {
	names   map[string]bool // names whose appearance may be that of a path
	above   map[string]bool // folders that are watched for that
	changed bool            // some of them exist, or a root is gone
}

// find determines which of the paths that were asked for exist: these are the roots.
// For a missing one, the nearest existing folder above is watched, by itself; what the
// system does not report is found by the next poll.
//
// The error says which paths must not be read; the others are found.
func (w *watch) find() (news []string, err error) {
	was := w.roots
	w.roots = nil
	w.missing = missing{names: map[string]bool{}, above: map[string]bool{}}
	for _, p := range w.asked {
		root, why := filepath.EvalSymlinks(p)
		if disk.IsMissing(why) {
			w.missing.await(w.fs, p)
			root, why = filepath.EvalSymlinks(p)
		}
		switch {
		case disk.IsMissing(why), slices.Contains(w.roots, root):
			continue
		case why != nil:
			err = errors.Join(err, why)
			continue
		}
		w.roots = append(w.roots, root)
		if !slices.Contains(was, root) {
			news = append(news, root)
		}
	}
	return news, err
}

// await watches the nearest existing folder above a missing path, after making sure
// that the next one below it does not exist either.
func (m *missing) await(by *fsnotify.Watcher, path string) {
	for !exists(path) {
		dir, next := nearest(path)
		name := filepath.Join(dir, next)
		m.above[dir], m.names[name] = true, true
		if by.Add(dir) != nil || !exists(name) {
			return
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// nearest returns the nearest existing folder above a path, without links, and the
// name of the next one below it.
func nearest(path string) (dir, next string) {
	for dir = filepath.Dir(path); !exists(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(path) {
		path = dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, filepath.Base(path)
}

// appear starts watching those of the given paths that exist now. The error is find's.
func (w *watch) appear() error {
	news, err := w.find()
	for _, root := range news {
		w.add(root)
	}
	return err
}

// A live file is one whose reader is kept, so that reading an appended line costs no
// more than that line.
type live struct {
	t    *importer.Target
	used time.Time
}

// maxLive is how many readers are kept.
const maxLive = 16

// update reads what is new in a file that has a live reader. It reports whether that
// was possible.
func (l *live) update(ctx context.Context, cs *importer.Consumer, c disk.File) (bool, error) {
	w := l.t.Job
	if w.Dead.Load() || c.Inode != w.Now.Inode || c.Size < w.Stream.Ended || !w.TailStands() {
		return false, nil
	}
	l.used, w.Old = time.Now(), min(w.Old, w.Stream.N)
	l.t.GoOn()
	cs.Target = l.t
	err := w.Produce(ctx, func(ch records.Chunk) error { return cs.Consume(ctx, ch) })
	return err == nil && !w.Dead.Load(), err
}

// A liveSet is the live files, by path.
type liveSet map[string]*live

func (s liveSet) put(t *importer.Target) {
	if t != nil && t.Job.Dead.Load() {
		delete(s, t.Job.Now.Path)
	}
	if t == nil || t.Job.Dead.Load() || t.Job.Unit != nil || t.Job.Packed || t.Job.State.Intent != nil {
		return
	}
	s[t.Job.Now.Path] = &live{t, time.Now()}
	for len(s) > maxLive {
		oldest := ""
		for path, l := range s {
			if oldest == "" || l.used.Before(s[oldest].used) {
				oldest = path
			}
		}
		delete(s, oldest)
	}
}

// Hurry makes a watch read a file again soon.
func (w *watch) Hurry(path string) { w.later[path] = time.Now().Add(2 * restFor) }
