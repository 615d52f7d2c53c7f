package interop

import (
	"context"
	"errors"
	"io"

	"github.com/skein-dev/skein"
)

// A consumer stores chunks. Those of a source come one after the other.
type consumer struct {
	outlet
	target *target        // of the source whose chunks come
	other  func(*fileJob) // called with what turned out not to be a unit
}

// An outlet is what all targets of an import share.
type outlet struct {
	store    skein.Store
	known    *knownFiles
	rep      *reporting
	parents  *parents
	rereader *rereader
	folders  checkouts
	watcher  watcher // that the import is part of; nil for none
}

// A watcher continues reading after an import.
type watcher interface {
	put(*target)       // takes a source that was read to its end
	wait(candidate)    // looks later at a unit that is being written
	hurry(path string) // looks soon at a file that another writer has
}

// consume stores a chunk, and at the end of its source adds the outcome to the
// report. It returns only errors that would affect the next source too.
func (cs *consumer) consume(ctx context.Context, c chunk) error {
	if cs.target == nil || cs.target.w != c.w {
		cs.target = newTarget(cs.outlet, c.w)
	}
	if err := cs.take(ctx, cs.target, c); err != nil {
		return err
	}
	if c.end && cs.watcher != nil {
		cs.watcher.put(cs.target)
	}
	return nil
}

func (cs *consumer) take(ctx context.Context, t *target, c chunk) error {
	if c.torn && cs.watcher != nil { // it will be looked at again
		cs.watcher.wait(c.w.now)
		return nil
	}
	fail := cs.rep.partly
	if c.torn {
		fail = cs.rep.fail
	}
	cs.rep.skips(c.skips, fail)
	if c.took != nil {
		cs.rep.took(*c.took)
		return nil
	}
	if errors.Is(c.err, errTaken) {
		cs.leaves(c.w)
		return nil
	}
	switch {
	case c.w.dead.Load(), len(c.skips) > 0:
		return nil
	case c.failed != nil:
		c.w.dies()
		return cs.rep.fails(ctx, t.file.Path, c.failed)
	case c.other:
		cs.other(c.w)
		return nil
	}
	return cs.outcome(ctx, c, t.takeAll(ctx, c))
}

// outcome reports what happened to the records of a chunk. err says why they could not be
// stored.
func (cs *consumer) outcome(ctx context.Context, c chunk, err error) error {
	path := c.w.now.path
	switch {
	case err == nil && c.err != nil && c.w.packed && c.w.patient && errors.Is(c.err, io.ErrUnexpectedEOF): // it is being written
	case err == nil && c.err != nil && ctx.Err() == nil:
		cs.rep.fail(path, c.err)
	case errors.Is(err, skein.ErrDeleted):
		cs.rep.leaves(path, &cs.rep.Removed, errDestroyed)
	case errors.Is(err, errTaken):
		cs.leaves(c.w)
	case errors.Is(err, errOriginal): // it is read once its copies are out of the way
	case errors.Is(err, skein.ErrLocked):
		cs.rep.leaves(path, &cs.rep.Waiting, errLocked)
	case err != nil:
		c.w.dies()
		return cs.rep.fails(ctx, path, err)
	}
	c.w.dead.Store(err != nil)
	if c.w.unit != nil && (c.err != nil || err != nil && !errors.Is(err, skein.ErrDeleted)) {
		c.w.unit.left.Store(true)
	}
	return nil
}

// leaves notes that a source is left for later.
func (cs *consumer) leaves(w *fileJob) {
	w.dead.Store(true)
	path := w.now.path
	if w.unit != nil {
		path = w.unit.path
		if len(w.unit.files) > 0 {
			path = w.unit.files[0].path
		}
		w.unit.left.Store(true)
	}
	if cs.watcher == nil {
		cs.rep.leaves(path, &cs.rep.Waiting, errLocked)
		return
	}
	cs.watcher.hurry(path)
}
