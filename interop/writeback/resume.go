package writeback

import (
	"context"
	"errors"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/records"
)

// forget forgets what was about to be written, if nothing of it was written.
func (y *syncer) forget(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if same, err := y.stands(ctx); !same || err != nil {
		return nil //nolint:nilerr // the next sync looks again
	}
	return y.saveIntent(ctx, nil)
}

// adopt reads what was written again, as records of events that the session has.
func (y *syncer) adopt(ctx context.Context) error {
	in := y.intent()
	if in == nil || in.There {
		return nil
	}
	f, err := y.looks(ctx, in)
	if err != nil {
		return err
	}
	has, err := y.hasSide()
	if err != nil {
		return err
	}
	a := records.Adoption{Echoes: f.Echoes.UpTo(in.Last)}
	if has {
		a.Intent = in.Rest()
	}
	return y.adoptAs(ctx, a)
}

// adoptAs imports the source, given what is known about it.
func (y *syncer) adoptAs(ctx context.Context, a records.Adoption) error {
	_, err := y.read(ctx, &interop.Report{}, &a)
	return err
}

// goOn completes what a sync that was killed has begun. What it had not begun to
// write is forgotten: it is written as if for the first time.
func (y *syncer) goOn(ctx context.Context, done *Synced) error {
	in := y.intent()
	if !in.There {
		f, err := y.looks(ctx, in)
		if err != nil {
			return err
		}
		if !f.Some && !y.begun(in) {
			return errors.Join(y.saveIntent(ctx, nil), y.again(ctx))
		}
	}
	err := y.locked(ctx, func() error { return y.ends(ctx, in, done) })
	return errors.Join(err, y.again(ctx))
}

// ends writes what is missing of what was to be written.
func (y *syncer) ends(ctx context.Context, in *records.Intent, done *Synced) error {
	x := y.exporter()
	texts := in.SourceTexts()
	if !in.There {
		var err error
		if !records.InUnit(&y.format, y.from.File) {
			err = y.appendRest(in, texts)
		} else if len(texts) > 0 {
			err = y.putUnit(ctx, texts)
		}
		if err != nil && !errors.Is(err, interop.ErrChanged) { // its program went on meanwhile: its content counts
			return err
		}
	}
	f, err := y.looks(ctx, in)
	if err != nil {
		return err
	}
	if in.There || f.Whole {
		done.Events, done.Losses = in.Events, in.Losses
		return y.end(ctx, x, texts)
	}
	if err := y.adoptAs(ctx, records.Adoption{Echoes: f.Echoes}); err != nil {
		return err
	}
	return y.saveIntent(ctx, nil)
}
