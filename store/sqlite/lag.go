package sqlite

import (
	"context"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

var _ inspect.IndexLag = (*Store)(nil)

// countUpTo is the most events waiting for the index that are counted one by one.
const countUpTo = 10_000

// A lookback remembers when events were first seen to wait for the index,
// because no event says when it was stored.
type lookback struct {
	mu    sync.Mutex
	upto  int64      // the newest event that waited then
	since skein.Time // when the oldest of them was stored; 0: no events were seen to wait
	after skein.Time // events with IDs after upto were stored after this
}

// Lag implements [inspect.IndexLag], for that of both indexes which is further behind.
// The time of an event that was not imported should be when it was stored, but may be
// wrong, and imported events do not say. So that time counts only as far as it agrees
// with what this process has seen before.
func (s *feeds) Lag(ctx context.Context) (l inspect.Lag, err error) {
	defer skein.Wrapf(&err, "sqlite: lag of the index")
	var upto, last, at int64
	err = s.read(ctx, func(c *engine.Conn) error {
		if _, err := c.One(`SELECT min(i.upto, d.upto), (SELECT coalesce(max(id), 0) FROM events) FROM indexed i, edits_fed d`, nil, &upto, &last); err != nil || last <= upto {
			return err
		}
		if l.Events = int(last - upto); l.Events <= countUpTo {
			var n int64
			if _, err := c.One(`SELECT count(*) FROM events WHERE id > ?`, []any{upto}, &n); err != nil {
				return err
			}
			l.Events = int(n)
		}
		_, err := c.One(`SELECT CASE imported WHEN 0 THEN at ELSE 0 END FROM events WHERE id > ? ORDER BY id LIMIT 1`, []any{upto}, &at)
		return err
	})
	if err != nil {
		return inspect.Lag{}, err
	}
	l.Since = s.waited.look(upto, last, skein.Time(at), skein.At(s.clock()))
	return l, nil
}

// look records what was seen now: the events after upto, up to last, wait, and the
// oldest one's time is at. It returns since when they have waited, 0 if none wait.
func (b *lookback) look(upto, last int64, at, now skein.Time) skein.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case last <= upto:
		b.upto, b.since, b.after = last, 0, now
	case b.since == 0 || b.upto <= upto: // what waited then is indexed
		b.since = now
		if at > 0 {
			b.since = max(b.after, min(at, now))
		}
		b.upto, b.after = last, now
	}
	return b.since
}
