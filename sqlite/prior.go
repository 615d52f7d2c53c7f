package sqlite

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// A prior is what came before an event, and, for the first one of a fork,
// where the parent's events stand.
type prior struct {
	skein.Prior
	strand int64     // sessions.n of whose event the fork begins after
	said   skein.Seq // last said event up to there
}

// prior looks up what came before the event p of the session h.
func (s *Store) prior(t *tx, h *head, p *packedEvent) (x prior, err error) {
	if c := p.f.Created; c != nil {
		if !isFork(c) || h.n != 0 {
			return x, nil
		}
		return s.shown(t, c.Parent)
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
// has a message with this ID.
func (t *tx) hasMessage(h *head, id string) (found bool, err error) {
	segs, err := t.segments(h)
	if err != nil {
		return false, err
	}
	for _, seg := range segs {
		var seq int64
		found, err := t.one(`SELECT seq FROM events WHERE session = ? AND message = ? AND seq <= ? LIMIT 1`, []any{seg.session, id, int64(seg.to)}, &seq)
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// charged returns what was counted for a request of a user.
func (t *tx) charged(user skein.User, request string) (u skein.Usage, err error) {
	_, err = t.one(`SELECT coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(reasoning), 0), coalesce(sum(cache_read), 0),
		coalesce(sum(cache_write), 0), coalesce(sum(requests), 0), coalesce(sum(reported), 0)
		FROM charges WHERE request = ? AND user_id = ?`, []any{request, string(user)},
		&u.Input, &u.Output, &u.Reasoning, &u.CacheRead, &u.CacheWrite, &u.Requests, &u.Reported)
	return u, err
}

// shown returns what a fork shows of its parent.
func (s *Store) shown(t *tx, at *skein.Parent) (x prior, err error) {
	if err := at.Session.Check(); err != nil {
		return x, err
	}
	p, err := t.head(at.Session)
	if err != nil {
		return x, err
	}
	if p.n == 0 || s.user != "" && p.User != s.user {
		return x, t.gone(at.Session)
	}
	if at.Seq > p.Last {
		return x, fmt.Errorf("%w fork: seq %d: session %s has the events 1 to %d", skein.ErrInvalid, at.Seq, at.Session, p.Last)
	}
	x.Base = skein.Shown{First: p.First, Project: p.Project, Cwd: p.Cwd, Agent: p.Agent, Model: p.Model}
	if at.Seq < 1 {
		return x, nil // Apply says what is wrong
	}
	segs, err := t.segments(&p)
	if err != nil {
		return x, err
	}
	for _, seg := range segs {
		if at.Seq <= seg.from {
			continue
		}
		var turn, ordinal, prev int64
		var kind string
		found, err := t.one(`SELECT turn, ordinal, prev, kind FROM events WHERE session = ? AND seq = ?`, []any{seg.session, int64(at.Seq)}, &turn, &ordinal, &prev, &kind)
		if err != nil {
			return x, err
		}
		if !found {
			break
		}
		x.strand, x.Base.Turns, x.Base.Messages, x.said = seg.session, int(turn), int(ordinal), skein.Seq(prev)
		if kind == string(skein.KindSaid) {
			x.said = at.Seq
		}
		return x, nil
	}
	return x, fmt.Errorf("event %d of session %s: %w", at.Seq, at.Session, skein.ErrCorrupt)
}

// gone says why there is no such session.
func (t *tx) gone(id skein.SessionID) error {
	dead, err := t.buried(idTomb(id))
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
