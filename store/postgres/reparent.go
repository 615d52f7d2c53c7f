package postgres

import (
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// An ownership is the events that count as those of a session being deleted, and
// their new parent.
type ownership struct {
	segs        walk.Segments // its own events, and those reparented to it from deleted sessions
	newParent   int64         // number of the new parent: the fork that shows most of it; 0 if no fork shows any
	newParentID skein.SessionID
	upto        skein.Seq // up to where the new parent shows it; 0 without one
}

// first returns the seq before the first event.
func (e *ownership) first() skein.Seq {
	first := e.segs[0].From
	for _, x := range e.segs {
		first = min(first, x.From)
	}
	return first
}

// numbers returns the session numbers under which the events are stored.
func (e *ownership) numbers() (ns []int64) {
	for _, x := range e.segs {
		ns = append(ns, x.Session)
	}
	return ns
}

// ownership reads which events count as those of h, and finds the new parent: among
// forks that show them up to the same seq, the one that was made first. Nobody may
// fork h or delete a session of the same user meanwhile.
func (t *tx) ownership(h *head) (e ownership, err error) {
	user := string(h.User)
	err = t.Query(`SELECT x.n, coalesce(b.upto, 0), x.upto FROM (SELECT $2::bigint AS n, $3::bigint AS upto UNION ALL SELECT n, upto FROM reparented WHERE user_id = $1 AND owner = $2) x
		LEFT JOIN bases b ON b.user_id = $1 AND b.n = x.n`, []any{user, h.n, int64(h.Last)}, func(r wire.Row) error {
		var s walk.Segment
		err := r.Scan(&s.Session, &s.From, &s.To)
		e.segs = append(e.segs, s)
		return err
	})
	if err != nil {
		return e, err
	}
	// If it is a deleted session that has its base there, the new parent is its owner.
	_, err = t.One(`SELECT s.n, s.id, b.upto FROM bases b LEFT JOIN reparented t ON t.user_id = b.user_id AND t.n = b.n
		JOIN sessions s ON s.user_id = b.user_id AND s.n = CASE WHEN t.owner IS NULL THEN b.n ELSE t.owner END JOIN bases m ON m.user_id = s.user_id AND m.n = s.n
		WHERE b.user_id = $1 AND b.base = ANY ($2) AND b.n <> ALL ($2) ORDER BY b.upto DESC, m.made LIMIT 1`,
		[]any{user, e.numbers()}, &e.newParent, &e.newParentID, &e.upto)
	return e, err
}

// settle reparents the events that the new parent shows, and puts the rest into the
// purge queue.
func (t *tx) settle(h *head, e ownership) error {
	for _, x := range e.segs {
		var err error
		if x.From >= e.upto {
			err = t.purgeSegment(h, x)
		} else {
			err = t.reparentSegment(h, x, e)
		}
		if err != nil {
			return err
		}
	}
	if e.newParent == 0 {
		return nil
	}
	return t.credit(h, e)
}

// purgeSegment puts all events of a segment into the purge queue.
func (t *tx) purgeSegment(h *head, x walk.Segment) error {
	user := string(h.User)
	p := t.pipe()
	p.Exec(enqueue, user, x.Session, int64(0))
	p.Exec(`DELETE FROM usage WHERE user_id = $1 AND n = $2`, user, x.Session)
	p.Exec(`DELETE FROM reparented WHERE user_id = $1 AND n = $2`, user, x.Session)
	p.Exec(`DELETE FROM bases WHERE user_id = $1 AND n = $2`, user, x.Session)
	return p.Run()
}

// enqueue puts the events of a session number after a seq into the purge queue.
const enqueue = `INSERT INTO purge_queue AS d (user_id, n, above) VALUES ($1, $2, $3) ON CONFLICT (user_id, n) DO UPDATE SET above = least(d.above, excluded.above)`

// reparentSegment gives a segment to the new parent, up to where that shows it.
func (t *tx) reparentSegment(h *head, x walk.Segment, e ownership) error {
	user, upto := string(h.User), min(x.To, e.upto)
	p := t.pipe()
	p.Exec(`INSERT INTO reparented (user_id, n, owner, upto) VALUES ($1, $2, $3, $4) ON CONFLICT (user_id, n) DO UPDATE SET owner = excluded.owner, upto = excluded.upto`,
		user, x.Session, e.newParent, int64(upto))
	if upto < x.To {
		p.Exec(enqueue, user, x.Session, int64(upto))
		p.Exec(`UPDATE usage u SET input = u.input - c.input, output = u.output - c.output, reasoning = u.reasoning - c.reasoning, cache_read = u.cache_read - c.cache_read,
				cache_write = u.cache_write - c.cache_write, cache_hour = u.cache_hour - c.cache_hour, requests = u.requests - c.requests, reported = u.reported - c.reported
			FROM (SELECT u.slot, u.provider, u.model, u.tier, u.recorded, sum(u.input)::bigint AS input, sum(u.output)::bigint AS output, sum(u.reasoning)::bigint AS reasoning,
					sum(u.cache_read)::bigint AS cache_read, sum(u.cache_write)::bigint AS cache_write, sum(u.cache_hour)::bigint AS cache_hour, sum(u.requests)::bigint AS requests, sum(u.reported)::bigint AS reported
				FROM charges u WHERE u.user_id = $1 AND u.n = $2 AND u.seq > $3 AND u.seq <= $4 GROUP BY 1, 2, 3, 4, 5) c
			WHERE u.user_id = $1 AND u.n = $2 AND u.slot = c.slot AND u.provider = c.provider AND u.model = c.model AND u.tier = c.tier AND u.recorded = c.recorded`,
			user, x.Session, int64(upto), int64(x.To))
	}
	return p.Run()
}

// credit adds the usage and the size of what was reparented to the new parent's row.
func (t *tx) credit(h *head, e ownership) error {
	newParent := head{Head: ledger.Head{Session: skein.Session{ID: e.newParentID, User: h.User}}, n: e.newParent}
	if err := t.touch(&newParent); err != nil {
		return err
	}
	newParent, err := t.head(e.newParentID)
	if err != nil {
		return err
	}
	var more skein.Usage
	if _, err := t.One(`SELECT `+usageSumsOr0+` FROM usage u WHERE u.user_id = $1 AND u.n = ANY ($2)`, []any{string(h.User), e.numbers()}, usageFields(&more)...); err != nil {
		return err
	}
	newParent.Usage = newParent.Usage.Plus(more)
	if all := h.Last - e.first(); all > 0 { // roughly
		newParent.bytes += h.bytes * int64(e.upto-e.first()) / int64(all)
	}
	p := t.pipe()
	p.moveUsage(&newParent)
	if err := p.Run(); err != nil {
		return err
	}
	n, err := t.Exec(`UPDATE sessions SET state = $3, bytes = $4 WHERE user_id = $1 AND n = $2`, string(h.User), newParent.n, newParent.state(), newParent.bytes)
	if err == nil && n != 1 {
		err = fmt.Errorf("session %s: %w", newParent.ID, skein.ErrCorrupt)
	}
	return err
}

// The events of a deleted session that forks still show stay under its number;
// The table reparented says which fork they count as, and up to which seq. What no fork shows is in
// the purge queue (purge_queue) and cannot be found.

// sessionOf returns the join from the rows of a table with user_id and n, called name,
// to the session s that they count as. Rows with a seq count only if shown holds. (It
// uses CASE instead of coalesce: under row security, an index is not used for a
// comparison with coalesce, because that is not leakproof.)
func sessionOf(name string) string {
	return fmt.Sprintf(` LEFT JOIN reparented t ON t.user_id = %[1]s.user_id AND t.n = %[1]s.n
		JOIN sessions s ON s.user_id = %[1]s.user_id AND s.n = CASE WHEN t.owner IS NULL THEN %[1]s.n ELSE t.owner END`, name)
}

// shown returns the condition that goes with sessionOf for rows with a seq.
func shown(name string) string {
	return fmt.Sprintf(`(t.upto IS NULL OR %s.seq <= t.upto)`, name)
}

// alive returns the condition that a row with a seq, in a table called name, is not
// in the purge queue, for queries without sessionOf.
func alive(name string) string {
	return fmt.Sprintf(`NOT EXISTS (SELECT FROM purge_queue d WHERE d.user_id = %[1]s.user_id AND d.n = %[1]s.n AND %[1]s.seq > d.above)`, name)
}
