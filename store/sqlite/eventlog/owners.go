package eventlog

import "github.com/skein-dev/skein/store/sqlite/engine"

// What forks show of a session that is being purged is theirs from the first
// step on, though the last step may come much later: after a kill, once another
// process has time for it. Until then, the following find the events.

// NewParents is the table new_parents. It has a row for each session that is being purged and that a fork still
// shows: its new parent and the seq up to which the new parent shows it. The
// new parent may have been a fork of another session that is being purged.
const NewParents = `(WITH RECURSIVE new_parents (session, new_parent, upto) AS (
		SELECT d.session, b.session, b.upto FROM purge_queue d CROSS JOIN bases b ON b.base = d.session
		UNION ALL
		SELECT h.session, b.session, min(h.upto, b.upto) FROM new_parents h CROSS JOIN purge_queue d ON d.session = h.new_parent CROSS JOIN bases b ON b.base = h.new_parent)
	SELECT session, new_parent, max(upto) AS upto FROM new_parents WHERE new_parent NOT IN (SELECT session FROM purge_queue) GROUP BY session)`

// An Owners says how to get from an event e to the session s that it belongs to.
type Owners struct {
	Join  string // to be put before the one with sessions
	Owner string // the number of s
	Shown string // a condition to add
	Upto  string // the seq up to which s shows the session that has e
}

// NobodyMoved is the value of Owners.Shown if every event belongs to its own session.
const NobodyMoved = `1`

// FindOwners returns the short way unless a session is being purged; then s is the
// fork d for the events that it shows. The error is the driver's.
func FindOwners(c *engine.Conn) (Owners, error) {
	purging, err := AnyPurging(c)
	if err != nil || !purging {
		return Owners{"", `e.session`, NobodyMoved, `9223372036854775807`}, err
	}
	return Owners{
		Join:  ` LEFT JOIN ` + NewParents + ` d ON d.session = e.session`,
		Owner: `coalesce(d.new_parent, e.session)`,
		Shown: `(d.upto IS NULL OR e.seq <= d.upto)`,
		Upto:  `coalesce(d.upto, 9223372036854775807)`,
	}, nil
}

// AnyPurging reports whether any session is being purged. The error is the
// driver's.
func AnyPurging(c *engine.Conn) (bool, error) {
	var n int64
	return c.One(`SELECT session FROM purge_queue LIMIT 1`, nil, &n)
}

// IsPurging reports whether session n is being purged. The error is the driver's.
func IsPurging(c *engine.Conn, n int64) (bool, error) {
	var one int64
	return c.One(`SELECT 1 FROM purge_queue WHERE session = ?`, []any{n}, &one)
}
