package interop

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// begin plans how to read a file: what was stored of it is given to the reader
// once more, and checked by its sum, before what is new. It returns w.
func (w *work) begin() *work {
	w.state = decodeState(w.known.State)
	w.stream = newStream(w.format, w.file())
	w.old, w.verify = w.state.Records, w.state.Records
	return w
}

// rewritten plans how to read a file whose beginning has changed: what it has
// in common with what was stored stays, and what came after that is stored anew.
// What is not in it any more was removed if the file was read whole; what cannot
// be read was not.
//
// Errors are the store's, or those of reading the file.
func rewritten(ctx context.Context, s skein.Store, w *work) (*work, error) {
	next := &work{format: w.format, now: w.now, known: w.known, patient: w.patient, forget: w.unit == nil, unit: w.unit, name: w.name}
	next.state = state{Rewriting: true, Withdrew: w.state.Withdrew, Sessions: w.state.Sessions, Apart: w.state.Apart, Told: w.state.Told, Seq: w.state.Seq, Intent: w.state.Intent, Yields: w.state.Yields}
	diff := reconcile.NewRecords()
	diff.WasUnread = w.state.Unread
	for r, err := range skein.SourcesOf(s).Records(ctx, w.format.Name, w.known.Path, 0) {
		if err != nil {
			return nil, err
		}
		diff.Stored(r)
	}
	if w.unit != nil {
		next.stored, next.state.Tail = diff, diff.Len()
	}
	next.stream = newStream(w.format, next.file())
	claims := newClaimer()
	err := next.read(ctx, func(r read) error {
		rec := r.rec
		if rec.Events = len(r.made.Items); rec.Events > 0 {
			rec.Key, _ = claims.claim(r)
		}
		if r.torn {
			rec.Damage = ""
		}
		diff.Now(rec)
		return nil
	})
	diff.Close(w.state.Removed, w.state.Shrunk) // and those of a reading that was stopped
	next.old, next.state.Removed, next.state.Shrunk = diff.Prefix, diff.Removed, diff.Shrunk
	next.state.Unread = diff.Unread || w.unit != nil && len(w.unit.unit.Skips()) > 0
	next.stream = newStream(w.format, next.file())
	return next, err
}
