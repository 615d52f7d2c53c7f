package sqlite

// What forks show of a session that is being purged is theirs from the first
// step on, though the last step may come much later: after a kill, once another
// process has time for it. Until then, the following find the events.

// heirs has a row for each session that is being purged and that a fork still
// shows: its new parent, heir, and the seq up to which the new parent shows it. The
// new parent may have been a fork of another session that is being purged.
const heirs = `(WITH RECURSIVE heirs (session, heir, upto) AS (
		SELECT d.session, b.session, b.upto FROM doomed d CROSS JOIN bases b ON b.base = d.session
		UNION ALL
		SELECT h.session, b.session, min(h.upto, b.upto) FROM heirs h CROSS JOIN doomed d ON d.session = h.heir CROSS JOIN bases b ON b.base = h.heir)
	SELECT session, heir, max(upto) AS upto FROM heirs WHERE heir NOT IN (SELECT session FROM doomed) GROUP BY session)`

// owners says how to get from an event e to the session s that it belongs to.
type owners struct {
	join  string // to be put before the one with sessions
	owner string // the number of s
	shown string // a condition to add
	upto  string // the seq up to which s shows the session that has e
}

// nobodyMoved is the value of owners.shown if every event belongs to its own session.
const nobodyMoved = `1`

// owners returns the short way unless a session is being purged; then s is the
// fork d for the events that it shows.
func (c *conn) owners() (owners, error) {
	doomed, err := c.anyPurging()
	if err != nil || !doomed {
		return owners{"", `e.session`, nobodyMoved, `9223372036854775807`}, err
	}
	return owners{
		join:  ` LEFT JOIN ` + heirs + ` d ON d.session = e.session`,
		owner: `coalesce(d.heir, e.session)`,
		shown: `(d.upto IS NULL OR e.seq <= d.upto)`,
		upto:  `coalesce(d.upto, 9223372036854775807)`,
	}, nil
}

// anyPurging reports whether any session is being purged.
func (c *conn) anyPurging() (bool, error) {
	var n int64
	return c.one(`SELECT session FROM doomed LIMIT 1`, nil, &n)
}

// isPurging reports whether session n is being purged.
func (c *conn) isPurging(n int64) (bool, error) {
	var one int64
	return c.one(`SELECT 1 FROM doomed WHERE session = ?`, []any{n}, &one)
}
