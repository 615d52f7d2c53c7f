package interop

import (
	"bytes"
	"context"
	"os"
	"slices"
	"time"
)

// A live file is one whose reader is kept, so that a line that is appended
// costs no more than that line.
type live struct {
	t    *target
	used time.Time
}

// maxLive is how many readers are kept.
const maxLive = 16

// update takes what is new in a file that has a live reader. It reports
// whether that could be done.
func (l *live) update(ctx context.Context, im *importer, c candidate) (bool, error) {
	w := l.t.w
	if w.dead.Load() || c.inode != w.now.inode || c.size < w.stream.ended || !w.tailStands() {
		return false, nil
	}
	l.used, w.old, l.t.alone, l.t.knew = time.Now(), min(w.old, w.stream.n), false, true
	err := w.produce(ctx, func(ch chunk) error { return im.takeChunk(ctx, l.t, ch) })
	return err == nil && !w.dead.Load(), err
}

// tailStands reports whether the last bytes that were read still stand where
// they stood.
func (w *work) tailStands() bool {
	f, _, err := open(w.now.path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(w.stream.tail))
	_, err = f.ReadAt(b, w.stream.ended-int64(len(b)))
	return err == nil && bytes.Equal(b, w.stream.tail)
}

// A liveSet is the readers that are kept, by path.
type liveSet map[string]*live

func (s liveSet) put(t *target) {
	if t != nil && t.w.dead.Load() {
		delete(s, t.w.now.path)
	}
	if t == nil || t.w.dead.Load() || t.w.unit != nil || t.w.packed || t.w.state.Intent != nil {
		return
	}
	s[t.w.now.path] = &live{t, time.Now()}
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

// read reads one file and returns what reads it on.
func (im *importer) read(ctx context.Context, w *work) (*target, error) {
	var t *target
	err := im.produce(ctx, w, func(ch chunk) error {
		if t == nil || t.w != ch.w {
			t = newTarget(im, ch.w)
		}
		return im.takeChunk(ctx, t, ch)
	})
	return t, err
}

// look says what a path is now, and false if it is no regular file.
func look(path string) (candidate, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return candidate{}, false
	}
	return candidate{path, info.Size(), info.ModTime().UnixNano(), inode(info)}, true
}

// newest returns the paths of the files that changed last, the newest first.
func (im *importer) newest(n int) []string {
	var paths []string
	for path := range im.files {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return -older(im.candidate(a), im.candidate(b)) })
	return paths[:min(n, len(paths))]
}

func (im *importer) candidate(path string) candidate {
	return candidate{path: path, mtime: im.files[path].Mtime}
}
