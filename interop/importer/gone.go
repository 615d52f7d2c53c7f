package importer

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
)

// MarkGone marks the sessions whose sources were removed, as agents do after some
// weeks, and takes the mark from those whose sources are there again. found are the
// files below roots, the paths that were asked for; found may be nil.
//
// Errors as [Pipeline.Import].
func (im *Pipeline) MarkGone(ctx context.Context, found []disk.File, roots []string) error {
	away, back := im.Known.Turned(found, roots, im.producer.listed)
	clear(im.producer.listed) // the next reading of a unit says it anew
	now := skein.At(time.Now())
	for _, id := range away {
		if err := im.mark(ctx, id, now); err != nil {
			return err
		}
	}
	for _, id := range back {
		if err := im.mark(ctx, id, 0); err != nil {
			return err
		}
	}
	return nil
}

// mark notes in a session that its source is gone since a time; 0: that it is there. In
// a session that another program works on, and in one that was deleted, it does not: the
// next import will.
func (im *Pipeline) mark(ctx context.Context, id skein.SessionID, gone skein.Time) error {
	s, err := im.store.Session(ctx, id)
	if host, _ := os.Hostname(); err != nil || s.Checkout.Host != "" && s.Checkout.Host != host { // its source may be on the other machine
		return ignoreGone(err)
	}
	for _, path := range im.Known.PathsOf(id) {
		k := im.Known.Files[path]
		f, err := im.Known.Stored(ctx, k.Format, path)
		if err != nil || f.Session != id {
			return err
		}
		st := records.DecodeState(f.State)
		st.Gone = gone != 0
		f.State = st.Encode()
		b := skein.Batch{Session: id, Import: &skein.Import{File: f}}
		if (s.Gone != 0) != st.Gone {
			b.Events, b.After = []skein.Event{skein.NewEvent(skein.KindChanged, skein.At(time.Now()), skein.Changed{Gone: &gone})}, s.Last
		}
		if _, err := im.store.Append(ctx, b); err != nil {
			return ignoreGone(err)
		}
		switch {
		case b.Events != nil && st.Gone:
			im.rep.Gone++
		case b.Events != nil:
			im.rep.Back++
		}
		s.Gone = gone
		im.Known.Keep(f)
	}
	return nil
}

// ignoreGone drops the errors that say that a session is not to be written to now.
func ignoreGone(err error) error {
	for _, is := range []error{skein.ErrNotFound, skein.ErrDeleted, skein.ErrLocked, skein.ErrConflict} {
		if errors.Is(err, is) {
			return nil
		}
	}
	return err
}
