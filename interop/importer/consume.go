package importer

import (
	"context"
	"errors"
	"io"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// A Consumer stores chunks. Those of a source come one after the other.
type Consumer struct {
	outlet
	Target *Target                // of the source whose chunks come
	other  func(*records.FileJob) // called with what turned out not to be a unit
}

// An outlet is what all targets of an import share.
type outlet struct {
	store    skein.Store
	known    *discover.KnownFiles
	rep      *discover.Reporting
	parents  *parents
	rereader *rereader
	folders  *lookups
	Watcher  watcher // that the import is part of; nil for none
}

// A watcher continues reading after an import.
type watcher interface {
	Put(*Target)       // takes a source that was read to its end
	Wait(disk.File)    // looks later at a unit that is being written
	Hurry(path string) // looks soon at a file that another writer has
}

// Consume stores a chunk, and at the end of its source adds the outcome to the
// report. It returns only errors that would affect the next source too.
func (cs *Consumer) Consume(ctx context.Context, c records.Chunk) error {
	if cs.Target == nil || cs.Target.Job != c.Job {
		cs.Target = newTarget(cs.outlet, c.Job)
	}
	if err := cs.take(ctx, cs.Target, c); err != nil {
		return err
	}
	if c.End && cs.Watcher != nil {
		cs.Watcher.Put(cs.Target)
	}
	return nil
}

func (cs *Consumer) take(ctx context.Context, t *Target, c records.Chunk) error {
	if c.Torn && cs.Watcher != nil { // it will be looked at again
		cs.Watcher.Wait(c.Job.Now)
		return nil
	}
	fail := cs.rep.AddPartial
	if c.Torn {
		fail = cs.rep.AddFailure
	}
	cs.rep.AddSkips(c.Skips, fail)
	if c.Took != nil {
		cs.rep.AddTook(*c.Took)
		return nil
	}
	if errors.Is(c.Err, errTaken) {
		cs.leaves(c.Job)
		return nil
	}
	switch {
	case c.Job.Dead.Load(), len(c.Skips) > 0:
		return nil
	case c.Failed != nil:
		c.Job.Dies()
		return cs.rep.Fails(ctx, t.file.Path, c.Failed)
	case c.Other:
		cs.other(c.Job)
		return nil
	}
	return cs.outcome(ctx, c, t.takeAll(ctx, c))
}

// outcome reports what happened to the records of a chunk. err says why they could not be
// stored.
func (cs *Consumer) outcome(ctx context.Context, c records.Chunk, err error) error {
	path := c.Job.Now.Path
	switch {
	case err == nil && c.Err != nil && c.Job.Packed && c.Job.Patient && errors.Is(c.Err, io.ErrUnexpectedEOF): // it is being written
	case err == nil && c.Err != nil && ctx.Err() == nil:
		cs.rep.AddFailure(path, c.Err)
	case errors.Is(err, skein.ErrDeleted):
		cs.rep.Leaves(path, &cs.rep.Removed, discover.ErrDestroyed)
	case errors.Is(err, errTaken):
		cs.leaves(c.Job)
	case errors.Is(err, errOriginal): // it is read once its copies are out of the way
	case errors.Is(err, skein.ErrLocked):
		cs.rep.Leaves(path, &cs.rep.Waiting, discover.ErrLocked)
	case err != nil:
		c.Job.Dies()
		return cs.rep.Fails(ctx, path, err)
	}
	c.Job.Dead.Store(err != nil)
	if c.Job.Unit != nil && (c.Err != nil || err != nil && !errors.Is(err, skein.ErrDeleted)) {
		c.Job.Unit.Left.Store(true)
	}
	return nil
}

// leaves notes that a source is left for later.
func (cs *Consumer) leaves(w *records.FileJob) {
	w.Dead.Store(true)
	path := w.Now.Path
	if w.Unit != nil {
		path = w.Unit.Path
		if len(w.Unit.Files) > 0 {
			path = w.Unit.Files[0].Path
		}
		w.Unit.Left.Store(true)
	}
	if cs.Watcher == nil {
		cs.rep.Leaves(path, &cs.rep.Waiting, discover.ErrLocked)
		return
	}
	cs.Watcher.Hurry(path)
}
