package interop

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/skein-dev/skein"
)

// maxLoads is how often a file is loaded if something in it depends on what comes
// later in it, so that reading it ends soon whatever is in it.
const maxLoads = 20

// wholes imports the files whose formats do that by themselves.
type wholes struct {
	store skein.Store
	known *knownFiles
	rep   *reporting
	again bool // see Options
}

// loadAll imports the files whose formats do that by themselves.
func (wh *wholes) loadAll(ctx context.Context, works []planned) error {
	for _, p := range works {
		w, err := wh.known.workOf(ctx, p)
		if err != nil {
			err = wh.rep.fails(ctx, p.now.path, err)
		} else {
			err = wh.load(ctx, w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load imports one file. It returns only errors that would affect the next file too.
func (wh *wholes) load(ctx context.Context, w *fileJob) error {
	for n := 1; ; n++ {
		took, err := wh.loadOnce(ctx, w)
		if err == nil && took.Waits && n < maxLoads {
			wh.rep.took(Took{News: took.News})
			continue
		}
		wh.rep.took(took)
		if err == nil && len(took.Failed) == 0 {
			err = wh.loaded(ctx, w)
		}
		for _, err := range append(took.Failed, err) {
			if err == nil {
				continue
			}
			if err := wh.rep.fails(ctx, w.now.path, err); err != nil {
				return err
			}
		}
		return nil
	}
}

// loadOnce reads one file from its beginning to its end.
func (wh *wholes) loadOnce(ctx context.Context, w *fileJob) (t Took, err error) {
	defer guard(&err)
	f, now, err := open(w.now.path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	w.now = now
	file := skein.SourceFile{Format: w.format.Name, Path: now.path}
	var data io.Reader = cancelable(ctx, f)
	unpacked, packed, err := Unpack(now.path, data)
	if err != nil {
		return t, err
	}
	var to readable
	if packed {
		defer unpacked.Close()
		to.r = unpacked
		data = &to
	}
	wh.rep.Bytes += now.size
	t, err = w.format.Load(ctx, Whole{wh.store, file, data, wh.again})
	return t, cmp.Or(to.damage, err)
}

// loaded makes a file that was imported whole look unchanged to the next import.
func (wh *wholes) loaded(ctx context.Context, w *fileJob) error {
	f, err := wh.known.stored(ctx, w.format.Name, w.now.path)
	if err != nil || f.Path == "" || unchanged(w.now, f) {
		return err
	}
	f.Size, f.Mtime, f.Inode = w.now.size, w.now.mtime, w.now.inode
	_, err = wh.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}})
	if errors.Is(err, skein.ErrDeleted) {
		return nil
	}
	if err == nil {
		wh.known.keep(f)
	}
	return err
}
