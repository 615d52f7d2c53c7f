package postgres

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// A prior is what came before an event, and, for the first one of a fork,
// where the parent's events stand and what is known of them.
type prior struct {
	skein.Prior
	strand   int64     // whose event the fork begins after: bases.base
	said     skein.Seq // last said event up to there
	segs     walk.Segments
	clients  map[skein.ClientID]placed
	messages map[string]bool
	undone   []skein.SeqRange // what was taken back up to there
	prompts  walk.Prompts
}

// A parentRow is the row in heads of a session that a fork begins with: it must
// be as it was read when the fork is written, and stay there until it is.
type parentRow struct {
	n, revision int64
}

// shown returns what the fork that c makes of d shows of its parent.
func (w *work) shown(d *draft, c *skein.Created) (x prior, err error) {
	at := c.Parent
	if at.Seq < 1 || at.Session == d.ID {
		return x, nil // Apply says what is wrong
	}
	p, err := w.parent(at.Session, c.User)
	if err != nil {
		return x, err
	}
	switch {
	case p.User != c.User:
		return x, fmt.Errorf("fork: session %s %w", at.Session, skein.ErrNotFound)
	case at.Seq > p.Last:
		return x, fmt.Errorf("%w fork: seq %d: session %s has %d events", skein.ErrInvalid, at.Seq, at.Session, p.Last)
	}
	t := w.tx
	if x.segs, err = t.segments(p, at.Seq); err != nil {
		return x, err
	}
	// The first may show nothing: the place is in what it shows of its parent.
	i := slices.IndexFunc(x.segs, func(s walk.Segment) bool { return s.From < s.To })
	x.segs = x.segs[i:]
	x.strand = x.segs[0].Session
	var prev skein.Seq
	var kind string
	found, err := t.one(`SELECT prev, kind FROM events WHERE user_id = $1 AND n = $2 AND seq = $3`,
		[]any{string(p.User), x.strand, int64(at.Seq)}, &prev, &kind)
	if err != nil {
		return x, err
	}
	if !found {
		return x, fmt.Errorf("event %d of session %s: %w", at.Seq, at.Session, skein.ErrCorrupt)
	}
	if x.said = prev; kind == string(skein.KindSaid) {
		x.said = at.Seq
	}
	past := &walker{q: t.conn, user: p.User}
	if at.Seq == p.Last {
		taken, err := t.gaps(p, x.segs, p.Last)
		if err != nil {
			return x, err
		}
		x.Base, x.undone, x.prompts = p.Shown(), taken.ranges, p.prompts
	} else {
		if x.Base, err = walk.Past(past, x.segs, x.said); err != nil {
			return x, err
		}
		stands, err := walk.Stand(past, x.segs, at.Seq)
		if err != nil {
			return x, err
		}
		stands.Show(&x.Base)
		x.undone, x.prompts = stands.Gaps, stands.Prompts
	}
	if x.clients, x.messages, err = t.known(p.User, x.segs, d.asks.clients, d.asks.messages); err != nil {
		return x, err
	}
	for id := range x.messages {
		if x.messages[id], err = walk.Joins(past, x.segs, x.undone, id); err != nil {
			return x, err
		}
	}
	return x, nil
}

// parent returns a session that a fork of u's begins with. What the group has drafted
// so far is written, for it may be the parent's.
func (w *work) parent(id skein.SessionID, u skein.User) (*head, error) {
	if d := w.drafts[id]; d != nil && d.Last > 0 && w.s.sees(d.User) {
		if d.changed() {
			if err := w.flush(); err != nil {
				return nil, err
			}
		} else {
			w.shownBy = append(w.shownBy, parentRow{d.n, d.revision})
		}
		return &d.head, nil
	}
	p := w.tx.pipe()
	var h head
	var buried bool
	var revision int64 // read first: of what is changed between the two it is too old
	p.one(nil, `SELECT revision FROM heads WHERE id = $1`, []any{string(id)}, &revision)
	p.head(id, &h)
	p.one(&buried, `SELECT hash FROM tombstones WHERE user_id = $1 AND hash = $2`, []any{string(u), idTomb(id)}, nil)
	err := p.run()
	switch {
	case err != nil:
	case h.n == 0 && buried:
		err = fmt.Errorf("session %s %w", id, skein.ErrDeleted)
	case h.n == 0:
		err = fmt.Errorf("session %s %w", id, skein.ErrNotFound)
	default:
		w.shownBy = append(w.shownBy, parentRow{h.n, revision})
	}
	return &h, err
}
