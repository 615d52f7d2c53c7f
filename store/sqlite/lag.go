package sqlite

import (
	"context"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

var _ inspect.IndexLag = (*Store)(nil)

// countUpTo is how many events that wait for the index are counted one by one.
const countUpTo = 10_000

// A lookback remembers when events were first seen to wait for the index: none
// says when it was stored.
type lookback struct {
	mu    sync.Mutex
	upto  int64      // the newest event that waited then
	since skein.Time // when the oldest of them was stored; 0: nothing was seen to wait
	after skein.Time // what is stored later than upto was stored after this
}

// Lag implements [inspect.IndexLag]. An event that was not imported says itself
// when it was stored; it may say something else, and others say nothing. So
// that counts only as far as it fits what this process has seen before.
func (s *Store) Lag(ctx context.Context) (l inspect.Lag, err error) {
	defer skein.Wrapf(&err, "sqlite: lag of the index")
	var upto, last, at int64
	err = s.read(ctx, func(c *conn) error {
		if _, err := c.one(`SELECT upto, (SELECT coalesce(max(id), 0) FROM events) FROM indexed`, nil, &upto, &last); err != nil || last <= upto {
			return err
		}
		if l.Events = int(last - upto); l.Events <= countUpTo {
			var n int64
			if _, err := c.one(`SELECT count(*) FROM events WHERE id > ?`, []any{upto}, &n); err != nil {
				return err
			}
			l.Events = int(n)
		}
		_, err := c.one(`SELECT CASE imported WHEN 0 THEN at ELSE 0 END FROM events WHERE id > ? ORDER BY id LIMIT 1`, []any{upto}, &at)
		return err
	})
	if err != nil {
		return inspect.Lag{}, err
	}
	l.Since = s.waited.look(upto, last, skein.Time(at), skein.At(s.clock()))
	return l, nil
}

// look is told what was seen now: events after upto wait, up to last; the
// oldest says that it is of at. It returns since when they do, 0 if none does.
func (b *lookback) look(upto, last int64, at, now skein.Time) skein.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case last <= upto:
		b.upto, b.since, b.after = last, 0, now
	case b.since == 0 || b.upto <= upto: // what waited then is in
		b.since = now
		if at > 0 {
			b.since = max(b.after, min(at, now))
		}
		b.upto, b.after = last, now
	}
	return b.since
}
