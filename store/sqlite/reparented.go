package sqlite

// What forks show of a session that is being deleted is theirs from the first
// step on, though the last one may come much later: after a kill, with the next
// process that has time for it. Until then its events are found by these.

// heirs has a row for each session that is being deleted and that a fork still
// shows: the fork, which may in turn have been the fork of one that is being
// deleted, and up to where it shows it.
const heirs = `(WITH RECURSIVE heirs (session, heir, upto) AS (
		SELECT d.session, b.session, b.upto FROM doomed d CROSS JOIN bases b ON b.base = d.session
		UNION ALL
		SELECT h.session, b.session, min(h.upto, b.upto) FROM heirs h CROSS JOIN doomed d ON d.session = h.heir CROSS JOIN bases b ON b.base = h.heir)
	SELECT session, heir, max(upto) AS upto FROM heirs WHERE heir NOT IN (SELECT session FROM doomed) GROUP BY session)`

// owners says how to get from an event e to its session s.
type owners struct {
	join  string // to be put before the one with sessions
	owner string // the number of s
	shown string // a condition that goes with it
	upto  string // the seq up to which s shows the session that has e
}

// nobodyMoved is the condition shown of owners where every event is its
// session's.
const nobodyMoved = `1`

// owners returns the short way unless a session is being deleted; then, of what
// a fork d shows, s is the fork.
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

// anyPurging reports whether a session is being deleted.
func (c *conn) anyPurging() (bool, error) {
	var n int64
	return c.one(`SELECT session FROM doomed LIMIT 1`, nil, &n)
}

// isPurging reports whether session n is being deleted.
func (c *conn) isPurging(n int64) (bool, error) {
	var one int64
	return c.one(`SELECT 1 FROM doomed WHERE session = ?`, []any{n}, &one)
}
