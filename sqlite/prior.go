package sqlite

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// A prior is what came before an event, and, for the first one of a fork,
// where the parent's events stand.
type prior struct {
	skein.Prior
	strand  int64            // sessions.n of whose event the fork begins after
	said    skein.Seq        // last said event up to there
	undone  []skein.SeqRange // what was taken back up to there
	prompts walk.Prompts
}

// prior looks up what came before the event p of the session h.
func (t *call) prior(h *head, p *packedEvent) (x prior, err error) {
	if c := p.f.Created; c != nil {
		if !c.Parent.IsFork() || h.n != 0 {
			return x, nil
		}
		return t.shown(h.ID, c)
	}
	if m := p.f.Message; m != nil && m.ID != "" && h.n != 0 {
		if x.Message, err = t.hasMessage(h, m.ID); err != nil {
			return x, err
		}
	}
	if c := p.f.Charge; c != nil && c.Request != "" {
		x.Charged, err = t.charged(h.User, c.Request)
	}
	return x, err
}

// hasMessage reports whether the session, with what it shows of its parent,
// has a message with this ID that stands; see [walk.Joins].
func (t *call) hasMessage(h *head, id string) (found bool, err error) {
	segs, err := t.segments(h)
	if err != nil {
		return false, err
	}
	for _, seg := range segs {
		var seq int64
		if found, err = t.one(`SELECT seq FROM events INDEXED BY events_by_message WHERE session = ? AND message = ? AND seq <= ? LIMIT 1`, []any{seg.Session, id, int64(seg.To)}, &seq); err != nil {
			return false, err
		}
		if found {
			break
		}
	}
	if !found {
		return false, nil
	}
	for _, seg := range segs {
		var seq int64
		// The index is partial: SQLite takes it only where its own condition stands.
		marked, err := t.one(`SELECT seq FROM events INDEXED BY events_marks WHERE session = ? AND seq <= ? AND kind IN ('rewound', 'compacted', 'amended') AND kind <> 'compacted' LIMIT 1`,
			[]any{seg.Session, int64(seg.To)}, &seq)
		if err != nil {
			return false, err
		}
		if marked {
			g, err := t.gaps(h.n, segs, h.Last)
			if err != nil {
				return false, err
			}
			return walk.Joins(walker{t.s, t.conn, nil}, segs, g.ranges, id)
		}
	}
	return true, nil
}

// charged returns what was counted for a request of a user.
func (t *tx) charged(user skein.User, request string) (u skein.Usage, err error) {
	_, err = t.one(`SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(reasoning), 0), coalesce(sum(cache_read), 0),
		coalesce(sum(cache_write), 0), coalesce(sum(cache_hour), 0), coalesce(sum(requests), 0), coalesce(sum(reported), 0)
		FROM charges INDEXED BY charges_by_request WHERE request = ? AND user_id = ?`, []any{request, string(user)},
		&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.CacheHour, &u.Requests, &u.Reported)
	return u, err
}

// shown returns what the fork that c makes shows of its parent.
func (t *call) shown(id skein.SessionID, c *skein.Created) (x prior, err error) {
	at := c.Parent
	if at.Seq < 1 || at.Session == id {
		return x, nil // Apply says what is wrong
	}
	p, err := t.head(at.Session)
	if err != nil {
		return x, err
	}
	switch {
	case p.n == 0 || !t.s.sees(p.User):
		return x, t.gone(c.User, at.Session)
	case p.User != c.User:
		return x, fmt.Errorf("fork: session %s %w", at.Session, skein.ErrNotFound)
	case at.Seq > p.Last:
		return x, fmt.Errorf("%w fork: seq %d: session %s has %d events", skein.ErrInvalid, at.Seq, at.Session, p.Last)
	}
	segs, err := t.conn.segments(p.n, at.Seq)
	if err != nil {
		return x, err
	}
	// The first may show nothing: the place is in what it shows of its parent.
	owner := segs[slices.IndexFunc(segs, func(s walk.Segment) bool { return s.From < s.To })]
	x.strand = owner.Session
	if doomed, err := t.doomed(owner.Session); err != nil {
		return x, err
	} else if doomed {
		x.strand = p.n // whose they will be
	}
	var prev int64
	var kind string
	found, err := t.one(`SELECT prev, kind FROM events WHERE session = ? AND seq = ?`, []any{owner.Session, int64(at.Seq)}, &prev, &kind)
	if err != nil {
		return x, err
	}
	if !found {
		return x, fmt.Errorf("event %d of session %s: %w", at.Seq, at.Session, skein.ErrCorrupt)
	}
	if x.said = skein.Seq(prev); kind == string(skein.KindSaid) {
		x.said = at.Seq
	}
	x.Base = p.Shown()
	if at.Seq == p.Last {
		g, err := t.gaps(p.n, segs, p.Last)
		x.undone, x.prompts = g.ranges, p.prompts
		return x, err
	}
	l := walker{t.s, t.conn, nil}
	if x.Base, err = walk.Past(l, segs, x.said); err != nil {
		return x, err
	}
	stands, err := walk.Stand(l, segs, at.Seq)
	if err != nil {
		return x, err
	}
	stands.Show(&x.Base)
	x.undone, x.prompts = stands.Gaps, stands.Prompts
	return x, nil
}

// gone says why a user has no such session.
func (t *tx) gone(user skein.User, id skein.SessionID) error {
	dead, err := t.buried(user, idTomb(id))
	switch {
	case err != nil:
		return err
	case dead:
		return fmt.Errorf("session %s %w", id, skein.ErrDeleted)
	}
	return fmt.Errorf("session %s %w", id, skein.ErrNotFound)
}

// begun writes what hangs on a new session: where its parent's events are, and
// who holds its lease.
func (t *tx) begun(h *head, p prior) error {
	if err := t.putGaps(h.n, nil, p.undone); err != nil {
		return err
	}
	if p.strand != 0 {
		if _, _, err := t.exec(`INSERT INTO bases (session, base, upto) VALUES (?, ?, ?)`, h.n, p.strand, int64(h.Base)); err != nil {
			return err
		}
	}
	l, err := t.lease(h.ID)
	if err == nil && l.held {
		_, _, err = t.exec(`UPDATE sessions SET locked_by = ? WHERE n = ?`, l.holder.String(), h.n)
	}
	return err
}
