package importer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// A producer reads files, units and the side files beside them, and hands what they
// hold to a sink in chunks.
type producer struct {
	store skein.Store
	known *discover.KnownFiles
	own   *discover.Syncing // of a sync; nil for other imports
	again bool              // see Options

	listed discover.UnitListing // by the units that were read
}

// produceAll reads files and units one after the other. Its errors are sink's.
func (pr *producer) produceAll(ctx context.Context, works []discover.Planned, sink func(records.Chunk) error) error {
	for _, pl := range works {
		w, err := pr.known.WorkOf(ctx, pl)
		switch {
		case err != nil:
			err = sink(records.Chunk{Job: w, End: true, Failed: err})
		case w.Unit != nil:
			err = pr.produceUnit(ctx, w, sink)
		default:
			err = pr.produce(ctx, w.Begin(), sink)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (pr *producer) isOwn(path string) bool { return pr.own != nil && pr.own.Path == path }

// produce reads a file, or a source of a unit.
func (pr *producer) produce(ctx context.Context, w *records.FileJob, sink func(records.Chunk) error) (err error) {
	if known, err := pr.beside(ctx, w, sink); !known || err != nil {
		return err
	}
	adopts := pr.isOwn(w.Now.Path) && pr.own.Adopts != nil
	if adopts {
		w.State.Echoes, w.State.Intent = pr.own.Adopts.Echoes, pr.own.Adopts.Intent
	} else if adopts, err = records.RecoverIntent(ctx, pr.store, w); err != nil {
		return sink(records.Chunk{Job: w, End: true, Err: err})
	}
	err = w.Produce(ctx, sink)
	for errors.Is(err, records.ErrRestart) {
		next, err2 := records.Rewritten(ctx, pr.store, w)
		if err2 != nil {
			return sink(records.Chunk{Job: w, End: true, Err: err2})
		}
		if adopts { // we took out what is gone, and the session says so itself
			next.State.Removed, next.State.Shrunk = nil, nil
		}
		w, err = next, next.Produce(ctx, sink)
	}
	return err
}

// produceUnit reads what has changed in a unit and hands it to sink, the
// source "" last: when that ends, the unit's current state is known.
func (pr *producer) produceUnit(ctx context.Context, w *records.FileJob, sink func(records.Chunk) error) (err error) {
	alone := &records.FileJob{Format: w.Format, Now: w.Now, Unit: w.Unit} // for what is reported of the unit, not of a source
	fail := func(err error) error {
		if errors.Is(err, interop.ErrTorn) {
			return sink(records.Chunk{Job: alone, End: true, Skips: []interop.Skip{{Path: w.Now.Path, Why: disk.Why(err)}}, Torn: true})
		}
		return sink(records.Chunk{Job: alone, End: true, Failed: err})
	}
	f, err := w.Unit.Look(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, interop.ErrOther):
		return sink(records.Chunk{Job: alone, End: true, Other: true})
	case err != nil:
		return fail(err)
	}
	defer func() {
		if closing := w.Unit.Unit.Close(); closing != nil && err == nil {
			err = sink(w.Says(closing))
		}
	}()
	w.Format = *f
	if w.Known, err = pr.known.Stored(ctx, w.Format.Name, w.Now.Path); err != nil {
		return fail(err)
	}
	sources, err := w.Unit.Sources(ctx)
	if err != nil {
		return fail(err)
	}
	if p, packed := w.Unit.Unit.(*records.CopiedUnit); packed && p.Damage != nil {
		if err := sink(records.Chunk{Job: alone, Err: p.Damage}); err != nil {
			return err
		}
	}
	for _, s := range sources {
		if s.Name == "" {
			continue
		}
		if err := pr.produceSource(ctx, w, s, sink); err != nil {
			return err
		}
	}
	skips := w.Unit.Unit.Skips()
	if len(skips) == 0 {
		pr.listed.Add(w.Unit.Path, sources)
	}
	if len(skips) > 0 {
		if err := sink(records.Chunk{Job: alone, Skips: skips}); err != nil {
			return err
		}
	}
	return pr.produce(ctx, w.Begin(), sink)
}

// produceSource reads a source, if it has changed.
func (pr *producer) produceSource(ctx context.Context, of *records.FileJob, s interop.Source, sink func(records.Chunk) error) (err error) {
	w := &records.FileJob{Format: of.Format, Unit: of.Unit, Name: s.Name, Patient: of.Patient}
	w.Now = disk.File{Path: records.SourcePath(of.Unit.Path, s.Name), Size: s.Size}
	sum := sha256.Sum256([]byte(s.Stamp))
	w.Now.Inode = binary.BigEndian.Uint64(sum[:]) >> 1
	if w.Known, err = pr.known.Stored(ctx, w.Format.Name, w.Now.Path); err != nil {
		return sink(records.Chunk{Job: w, End: true, Failed: err})
	}
	if s.Stamp != "" && !pr.isOwn(w.Now.Path) && records.Unchanged(w.Now, w.Known) && w.Known.Records > 0 {
		return nil
	}
	return pr.produce(ctx, w.Begin(), sink)
}
