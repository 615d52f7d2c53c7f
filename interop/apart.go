package interop

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// placeApart appends the events that files have for other files' sessions to those
// sessions, as far as these are known by now.
func (im *importer) placeApart(ctx context.Context) error {
	for path, k := range im.known.files {
		if !k.apart {
			continue
		}
		if err := im.placeApartOf(ctx, k.Format, path); err != nil {
			if err := im.rep.fails(ctx, path, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeApartOf is placeApart for one file.
func (im *importer) placeApartOf(ctx context.Context, format, path string) error {
	f, err := im.known.stored(ctx, format, path)
	if err != nil {
		return err
	}
	st := decodeState(f.State)
	if len(st.Apart) == 0 {
		return nil
	}
	left, err := im.appendApart(ctx, f, st.Apart)
	if err == nil && len(left) == len(st.Apart) {
		return nil
	}
	st.Apart = left
	f.State = st.encode()
	_, storing := im.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}})
	if storing != nil && !errors.Is(storing, skein.ErrDeleted) {
		return errors.Join(err, storing)
	}
	im.known.keep(f)
	return err
}

// appendApart returns the events whose session is not known yet, or that could not be
// appended: the error says why.
func (im *importer) appendApart(ctx context.Context, f skein.SourceFile, as []apart) (left []apart, failed error) {
	var keys []skein.ClientID
	for _, a := range as {
		keys = append(keys, reconcile.Candidates(a.Of)...)
	}
	places, err := skein.SourcesOf(im.store).Find(ctx, keys)
	if err != nil {
		return as, err
	}
	for _, a := range as {
		i := slices.IndexFunc(reconcile.Candidates(a.Of), func(k skein.ClientID) bool { return places[k].Session != "" })
		if i < 0 {
			left = append(left, a)
			continue
		}
		id := places[reconcile.Candidates(a.Of)[i]].Session
		if id == f.Session {
			continue // its reader has handled it
		}
		e := skein.Event{Kind: a.Kind, Time: a.Time, Payload: a.Payload}
		e.ClientID = "apart:" + skein.ClientID(digest(append([]byte(a.Of), a.Payload...))[:32])
		b := skein.Batch{Session: id, Events: []skein.Event{e}}
		got, err := im.store.Append(ctx, b)
		switch {
		case errors.Is(err, skein.ErrDeleted), errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrMismatch), errors.Is(err, skein.ErrInvalid):
		case err != nil:
			left, failed = append(left, a), cmp.Or(failed, err)
		default:
			im.rep.count(b, got[0])
		}
	}
	return left, failed
}
