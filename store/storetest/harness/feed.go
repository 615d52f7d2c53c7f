package harness

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
)

// Pull pulls events of a feed.
type Pull struct {
	t    *Test
	Next func() (skein.Fed, error, bool)
	Stop func()
}

// Feed begins to read the feed of s after a cursor.
func (t *Test) Feed(s skein.Store, after skein.Cursor) *Pull {
	ctx, cancel := context.WithTimeout(t.Context(), Late)
	t.Cleanup(cancel)
	next, stop := iter.Pull2(skein.FeedOf(s).Feed(ctx, after))
	t.Cleanup(stop)
	return &Pull{t: t, Next: next, Stop: stop}
}

// Want checks that the next event is the one at seq of a session, and returns
// the cursor after it.
func (f *Pull) Want(id skein.SessionID, seq skein.Seq) skein.Cursor {
	f.t.Helper()
	e, err, ok := f.Next()
	if !ok || err != nil || e.Session != id || e.Event.Seq != seq {
		f.t.Fatalf("Feed yields event %d of %s (error %v, goes on %v), want %d of %s", e.Event.Seq, e.Session, err, ok, seq, id)
	}
	if stored := All(f.t, f.t.Store.Events(f.t.Context(), id, seq-1)); len(stored) == 0 || stored[0].Kind != e.Event.Kind || string(stored[0].Payload) != string(e.Event.Payload) {
		f.t.Errorf("Feed yields %+v, stored is %+v", e.Event, stored)
	}
	return e.Cursor
}
