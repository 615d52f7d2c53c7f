package importer

import (
	"cmp"
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// maxLoads is how often a file is loaded if something in it depends on what comes
// later in it, so that reading it ends soon whatever is in it.
const maxLoads = 20

// wholes imports the files whose formats do that by themselves.
type wholes struct {
	store skein.Store
	known *discover.KnownFiles
	rep   *discover.Reporting
	again bool // see Options
}

// LoadAll imports the files whose formats do that by themselves.
func (wh *wholes) LoadAll(ctx context.Context, works []discover.Planned) error {
	for _, p := range works {
		w, err := wh.known.WorkOf(ctx, p)
		if err != nil {
			err = wh.rep.Fails(ctx, p.Now.Path, err)
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
func (wh *wholes) load(ctx context.Context, w *records.FileJob) error {
	for n := 1; ; n++ {
		took, err := wh.loadOnce(ctx, w)
		if err == nil && took.Waits && n < maxLoads {
			wh.rep.AddTook(interop.Took{News: took.News})
			continue
		}
		wh.rep.AddTook(took)
		if err == nil && len(took.Failed) == 0 {
			err = wh.loaded(ctx, w)
		}
		for _, err := range append(took.Failed, err) {
			if err == nil {
				continue
			}
			if err := wh.rep.Fails(ctx, w.Now.Path, err); err != nil {
				return err
			}
		}
		return nil
	}
}

// loadOnce reads one file from its beginning to its end.
func (wh *wholes) loadOnce(ctx context.Context, w *records.FileJob) (t interop.Took, err error) {
	defer records.Guard(&err)
	f, now, err := disk.Open(w.Now.Path)
	if err != nil {
		return t, err
	}
	defer f.Close()
	w.Now = now
	file := skein.SourceFile{Format: w.Format.Name, Path: now.Path}
	data := disk.Cancelable(ctx, f)
	unpacked, packed, err := disk.Unpack(now.Path, data)
	if err != nil {
		return t, err
	}
	var to disk.Readable
	if packed {
		defer unpacked.Close()
		to.From = unpacked
		data = &to
	}
	wh.rep.Bytes += now.Size
	t, err = w.Format.Load(ctx, interop.Whole{Store: wh.store, File: file, Data: data, Again: wh.again})
	return t, cmp.Or(to.Damage, err)
}

// loaded makes a file that was imported whole look unchanged to the next import.
func (wh *wholes) loaded(ctx context.Context, w *records.FileJob) error {
	f, err := wh.known.Stored(ctx, w.Format.Name, w.Now.Path)
	if err != nil || f.Path == "" || records.Unchanged(w.Now, f) {
		return err
	}
	f.Size, f.Mtime, f.Inode = w.Now.Size, w.Now.Mtime, w.Now.Inode
	_, err = wh.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}})
	if errors.Is(err, skein.ErrDeleted) {
		return nil
	}
	if err == nil {
		wh.known.Keep(f)
	}
	return err
}
