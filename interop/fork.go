package interop

import (
	"context"
	"slices"

	"github.com/skein-dev/skein"
)

// fork returns what a file that was a copy so far hangs on: the session that
// shows all that was copied, if there is one, up to the last event that is
// shared. rewind is where the copy itself ends, if that is earlier; else 0.
func (c *copier) fork(ctx context.Context) (p *skein.Parent, rewind skein.Seq, err error) {
	p = &skein.Parent{Session: c.last.Session, Seq: c.furthest[c.last.Session], Why: skein.Fork}
	for id, seq := range c.furthest {
		if id == p.Session || seq < c.last.Seq {
			continue
		}
		shows, err := c.shows(ctx, id, c.last)
		if err != nil {
			return nil, 0, err
		}
		if shows && seq > p.Seq {
			p.Session, p.Seq = id, seq
		}
	}
	if c.last.Seq < p.Seq {
		rewind = c.last.Seq
	}
	return p, rewind, nil
}

// shows reports whether session id shows, as a fork, the event at p.
func (c *copier) shows(ctx context.Context, id skein.SessionID, p skein.Place) (bool, error) {
	for range 100 {
		s, err := c.t.im.store.Session(ctx, id)
		if err != nil || s.Base < p.Seq || s.Parent == nil {
			return false, err
		}
		if id = s.Parent.Session; id == p.Session {
			return true, nil
		}
	}
	return false, nil
}

// revise puts a record that was taken before into the next flush.
func (t *target) revise(rec skein.Record) {
	i, found := slices.BinarySearchFunc(t.records, rec.N, func(r skein.Record, n int) int { return r.N - n })
	if found {
		t.records[i] = rec
		return
	}
	t.revised = append(t.revised, rec)
}
