package interop

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A missing notes what a watch waits for: paths that are not there yet, or no
// more.
type missing struct {
	names   map[string]bool // whose coming into being may be that of a path
	above   map[string]bool // folders that are watched for that
	changed bool            // some of it is there, or a root is gone
}

// find finds out which of the paths that were asked for are there: these are
// the roots. Where one is not, the nearest folder above is watched for it,
// alone; what the system does not tell is found by the next poll.
//
// The error says which may not be looked at; the others are found.
func (w *watch) find() (news []string, err error) {
	was := w.roots
	w.roots = nil
	w.missing = missing{names: map[string]bool{}, above: map[string]bool{}}
	for _, p := range w.asked {
		root, why := filepath.EvalSymlinks(p)
		if isMissing(why) {
			w.await(p)
			root, why = filepath.EvalSymlinks(p)
		}
		switch {
		case isMissing(why), slices.Contains(w.roots, root):
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

// isMissing reports whether an error says that there is no such path: also
// where a file stands in a folder's place.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// await watches the nearest folder above a path that is not there, until it has
// seen that the next one below that is not there either.
func (w *watch) await(path string) {
	for !exists(path) {
		dir, next := nearest(path)
		name := filepath.Join(dir, next)
		w.missing.above[dir], w.missing.names[name] = true, true
		if w.fs.Add(dir) != nil || !exists(name) {
			return
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// nearest returns the nearest folder above a path that is there, without links,
// and the name of the next one below it.
func nearest(path string) (dir, next string) {
	for dir = filepath.Dir(path); !exists(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(path) {
		path = dir
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, filepath.Base(path)
}

// appear takes up what is there now of the paths that were asked for. The error
// is that of find.
func (w *watch) appear() error {
	news, err := w.find()
	for _, root := range news {
		w.add(root)
	}
	return err
}
