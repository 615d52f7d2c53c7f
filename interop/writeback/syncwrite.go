package writeback

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// write writes what is new.
func (y *syncer) write(ctx context.Context, done *Synced) error {
	x := y.exporter()
	d, err := x.draft(ctx, y.sess)
	if err != nil {
		return err
	}
	d.After, d.Path, d.Name = y.from.Last, y.below, y.name
	d.Known = y.store.Records(ctx, y.format.Name, y.from.File.Path, 0)
	d.Tells = newTeller(d.Events, d.After, y.from.Echoes).tells
	for _, e := range d.Events {
		if e.Seq > d.After && reconcile.Talks(e.Kind) {
			done.Events++
		}
	}
	w, err := y.format.Write(ctx, d)
	if err != nil {
		return err
	}
	done.Losses = w.Losses
	own := slices.IndexFunc(w.Texts, func(t interop.SourceText) bool { return t.Path == y.below && t.Name == y.name })
	if own < 0 {
		return fmt.Errorf("%w: %s cannot hold any of the new events", skein.ErrInvalid, y.format.Name)
	}
	reach(&w.Texts[own], d.Events)
	last := d.Events[len(d.Events)-1].Seq
	in := records.NewIntent(w.Texts, own, records.LineShape{Unit: records.InUnit(&y.format, y.from.File)}, last)
	in.Events, in.Losses = done.Events, done.Losses
	if err := y.saveIntent(ctx, in); err != nil {
		return err
	}
	if !records.InUnit(&y.format, y.from.File) {
		err = y.appendLines(ctx, w.Texts[own].Lines)
	} else {
		err = y.putUnit(ctx, w.Texts)
	}
	if err != nil {
		return errors.Join(err, y.forget(ctx))
	}
	return y.end(ctx, x, w.Texts)
}

// exporter returns an exporter to the home that the source is in.
func (y *syncer) exporter() *exporter {
	to := sideWriter{destination: destination{format: y.format, home: y.home}, store: y.store, hurt: damages{}}
	return &exporter{sideWriter: to, o: Exports{Now: time.Now()}, spots: map[skein.SessionID]interop.Spot{}}
}

// end writes the files beside the source, once the source is written, and tells the
// store what was written.
func (y *syncer) end(ctx context.Context, x *exporter, texts []interop.SourceText) error {
	for _, t := range texts {
		if t.Path != y.below {
			if err := x.put(ctx, []interop.SourceText{t}); err != nil {
				return err
			}
		}
	}
	if err := y.adopt(ctx); err != nil {
		return err
	}
	if err := y.side(ctx, x); err != nil {
		return err
	}
	return y.saveIntent(ctx, nil)
}

// side rewrites the source's side file, if there is one: only the side file has what
// the session went back over.
func (y *syncer) side(ctx context.Context, x *exporter) error {
	if has, err := y.hasSide(); !has || err != nil {
		return err
	}
	f, err := skein.SourcesOf(y.store.Store).File(ctx, y.format.Name, y.from.File.Path)
	if err != nil {
		return err
	}
	sum := newSummer(records.InUnit(&y.format, f))
	for r, err := range y.store.Records(ctx, y.format.Name, f.Path, 0) {
		if err != nil {
			return err
		}
		sum.add(r.Raw)
	}
	return x.sideAt(ctx, records.SidePath(y.unit, y.name), y.sess, records.DecodeState(f.State).Echoes, sum.String())
}
