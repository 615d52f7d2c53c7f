package interop

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/skein-dev/skein"
)

// A producer reads files, units and the side files beside them, and hands what they
// hold to a sink in chunks.
type producer struct {
	store skein.Store
	known *knownFiles
	own   *syncing // of a sync; nil for other imports
	again bool     // see Options
}

// produceAll reads files and units one after the other. Its errors are sink's.
func (pr *producer) produceAll(ctx context.Context, works []planned, sink func(chunk) error) error {
	for _, pl := range works {
		w, err := pr.known.workOf(ctx, pl)
		switch {
		case err != nil:
			err = sink(chunk{w: w, end: true, failed: err})
		case w.unit != nil:
			err = pr.produceUnit(ctx, w, sink)
		default:
			err = pr.produce(ctx, w.begin(), sink)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (pr *producer) isOwn(path string) bool { return pr.own != nil && pr.own.path == path }

// produce reads a file, or a source of a unit.
func (pr *producer) produce(ctx context.Context, w *fileJob, sink func(chunk) error) (err error) {
	if known, err := pr.beside(ctx, w, sink); !known || err != nil {
		return err
	}
	adopts := pr.isOwn(w.now.path) && pr.own.adopts != nil
	if adopts {
		w.state.Echoes, w.state.Intent = pr.own.adopts.echoes, pr.own.adopts.intent
	} else if adopts, err = recoverIntent(ctx, pr.store, w); err != nil {
		return sink(chunk{w: w, end: true, err: err})
	}
	err = w.produce(ctx, sink)
	for errors.Is(err, errRestart) {
		next, err2 := rewritten(ctx, pr.store, w)
		if err2 != nil {
			return sink(chunk{w: w, end: true, err: err2})
		}
		if adopts { // we took out what is gone, and the session says so itself
			next.state.Removed, next.state.Shrunk = nil, nil
		}
		w, err = next, next.produce(ctx, sink)
	}
	return err
}

// produceUnit reads what has changed in a unit and hands it to sink, the
// source "" last: when that ends, the unit's current state is known.
func (pr *producer) produceUnit(ctx context.Context, w *fileJob, sink func(chunk) error) (err error) {
	alone := &fileJob{format: w.format, now: w.now, unit: w.unit} // for what is reported of the unit, not of a source
	fail := func(err error) error {
		if errors.Is(err, ErrTorn) {
			return sink(chunk{w: alone, end: true, skips: []Skip{{w.now.path, why(err)}}, torn: true})
		}
		return sink(chunk{w: alone, end: true, failed: err})
	}
	f, err := w.unit.look(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrOther):
		return sink(chunk{w: alone, end: true, other: true})
	case err != nil:
		return fail(err)
	}
	defer func() {
		if closing := w.unit.unit.Close(); closing != nil && err == nil {
			err = sink(w.says(closing))
		}
	}()
	w.format = *f
	if w.known, err = pr.known.stored(ctx, w.format.Name, w.now.path); err != nil {
		return fail(err)
	}
	sources, err := w.unit.sources(ctx)
	if err != nil {
		return fail(err)
	}
	if p, packed := w.unit.unit.(*copiedUnit); packed && p.damage != nil {
		if err := sink(chunk{w: alone, err: p.damage}); err != nil {
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
	if skips := w.unit.unit.Skips(); len(skips) > 0 {
		if err := sink(chunk{w: alone, skips: skips}); err != nil {
			return err
		}
	}
	return pr.produce(ctx, w.begin(), sink)
}

// produceSource reads a source, if it has changed.
func (pr *producer) produceSource(ctx context.Context, of *fileJob, s Source, sink func(chunk) error) (err error) {
	w := &fileJob{format: of.format, unit: of.unit, name: s.Name, patient: of.patient}
	w.now = candidate{path: sourcePath(of.unit.path, s.Name), size: s.Size}
	sum := sha256.Sum256([]byte(s.Stamp))
	w.now.inode = binary.BigEndian.Uint64(sum[:]) >> 1
	if w.known, err = pr.known.stored(ctx, w.format.Name, w.now.path); err != nil {
		return sink(chunk{w: w, end: true, failed: err})
	}
	if s.Stamp != "" && !pr.isOwn(w.now.path) && unchanged(w.now, w.known) && w.known.Records > 0 {
		return nil
	}
	return pr.produce(ctx, w.begin(), sink)
}
