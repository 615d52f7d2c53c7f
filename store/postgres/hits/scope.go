package hits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/search"
)

// A searchScope is what a search goes through.
type searchScope struct {
	q       skein.Query
	who     *string       // the owner of the rows; nil for all users
	where   wire.Where    // conditions on the events e, reparented t, and sessions s
	shownIn *ShownSession // the only session to search; hits in its parent count as its own
	segs    walk.Segments // of what shownIn shows, newest first
}

// ShownSession is a session, and what it shows, newest first.
type ShownSession struct {
	skein.Session
	N        int64 // sessions.n
	Segments walk.Segments
}

// conditions sets the conditions on events; none reports that no event can match.
func (x *searchScope) conditions(ctx context.Context, s wire.Principal, shows Shows) (none bool, err error) {
	q, w := &x.q, &x.where
	user := q.User
	if s.User != "" {
		if user != "" && user != s.User {
			return true, nil
		}
		user = s.User
	}
	if user != "" {
		u := string(user)
		x.who = &u
	}
	if q.Session != "" {
		return x.within(ctx, s, shows)
	}
	if q.Origin != "" {
		w.Add("s.origin = ?", columns.Plain(q.Origin))
	}
	if p, r := columns.Plain(q.Project), columns.Plain(q.Repository); p != "" || r != "" {
		// As search.InProject.
		w.Add(`EXISTS (SELECT FROM (SELECT ?::text AS p, ?::text AS r) x WHERE r <> '' AND s.repository = r
			OR p <> '' AND (p IN (s.project, s.repository) OR right(s.project, length(p) + 1) IN ('/' || p, '\' || p) OR right(s.repository, length(p) + 1) = '/' || p))`, p, r)
	}
	return false, nil
}

// within limits x to what a session shows.
func (x *searchScope) within(ctx context.Context, s wire.Principal, shows Shows) (none bool, err error) {
	var h ShownSession
	err = s.Read(ctx, func(q *wire.Conn) error {
		h, err = shows(q, x.q.Session)
		return err
	})
	if errors.Is(err, skein.ErrNotFound) {
		return true, nil
	}
	if err != nil || search.Excludes(&x.q, &h.Session) {
		return true, err
	}
	x.shownIn, x.segs = &h, h.Segments
	u := string(h.User)
	x.who = &u
	var conds []string
	var args []any
	for _, seg := range x.segs {
		conds = append(conds, "(e.n = ? AND e.seq > ? AND e.seq <= ? AND "+current+")")
		args = append(args, seg.Session, int64(seg.From), int64(seg.To), int64(seg.To))
	}
	x.where.Add("("+strings.Join(conds, " OR ")+")", args...)
	if !x.q.Rewound {
		x.where.Add("NOT " + x.rewound())
	}
	return false, nil
}

// joins returns the joins that a search needs for an event e, from events or found:
// the session that it counts as and, for a deleted one, up to where its events are
// still shown. OFFSET 0 makes the planner look them up by their keys, row by row: it
// cannot estimate how many rows find returns. Under row security, an index is used
// for a comparison with CASE, but not with coalesce, which is not leakproof.
func (x *searchScope) joins() string {
	foundIn := owner
	if x.shownIn == nil {
		foundIn = x.foundIn()
	}
	return ` LEFT JOIN LATERAL (SELECT t.owner, t.upto FROM reparented t WHERE t.user_id = e.user_id AND t.n = e.n OFFSET 0) t ON true
	CROSS JOIN LATERAL (SELECT ` + foundIn + ` AS n OFFSET 0) x
	CROSS JOIN LATERAL (SELECT s.n, s.id, s.origin, s.project, s.repository, s.agent FROM sessions s WHERE s.user_id = e.user_id AND s.n = x.n OFFSET 0) s`
}

// owner is the number of the session that has the event e.
const owner = `CASE WHEN t.owner IS NULL THEN e.n ELSE t.owner END`

// foundIn returns an expression for the session in which the event e is found: the one
// that has it, if it is live there, else the first fork in which it is. If the query
// asks for what was taken back, it is found there too. NULL if it is found nowhere.
func (x *searchScope) foundIn() string {
	const forks = `EXISTS (SELECT FROM bases b WHERE b.user_id = e.user_id AND b.base = e.n AND b.upto >= e.seq)`
	fits := func(n, upto string) string {
		return `(SELECT v.binned FROM sessions v WHERE v.user_id = e.user_id AND v.n = ` + n + `) = 0 AND ` + currentBefore + upto + currentAfter
	}
	const first = `(WITH RECURSIVE f (n, upto) AS (
			SELECT b.n, b.upto FROM bases b WHERE b.user_id = e.user_id AND b.base = e.n AND b.upto >= e.seq
			UNION ALL SELECT b.n, least(f.upto, b.upto) FROM f JOIN bases b ON b.user_id = e.user_id AND b.base = f.n AND b.upto >= e.seq)
		SELECT f.n FROM f WHERE %s AND %s ORDER BY f.n LIMIT 1)`
	own := `(t.upto IS NULL OR e.seq <= t.upto) AND ` + fits(owner, "coalesce(t.upto, a.seq)")
	standing := func(rewound string) string {
		return ` WHEN ` + own + ` AND ` + rewound + rewoundIn(owner) + ` THEN ` + owner +
			` WHEN ` + forks + ` THEN ` + fmt.Sprintf(first, fits("f.n", "f.upto"), rewound+rewoundIn("f.n"))
	}
	if !x.q.Rewound {
		return `CASE` + standing("NOT ") + ` END`
	}
	return `coalesce(CASE` + standing("NOT ") + ` END, CASE` + standing("") + ` END)`
}

// deep reports whether there are conditions on columns that only events has.
func (x *searchScope) deep() bool { return x.q.Agent != "" || x.q.Tool != "" || x.q.Path != "" }

// foundJoins returns the joins that a search needs for an event e from found.
func (x *searchScope) foundJoins() string { return x.eventJoin() + x.joins() }

// eventJoin returns the join with the row of e in events, as d, if that is needed.
func (x *searchScope) eventJoin() string {
	if !x.deep() {
		return ""
	}
	return ` CROSS JOIN LATERAL (SELECT d.agent, d.tools, d.paths FROM events d WHERE d.user_id = e.user_id AND d.n = e.n AND d.seq = e.seq OFFSET 0) d`
}

// conds returns all conditions, including those on columns that only events has; events
// is the name of such a row in the query.
func (x *searchScope) conds(events string) wire.Where {
	w := wire.Where{Conds: slices.Clone(x.where.Conds), Args: slices.Clone(x.where.Args)}
	for _, f := range []struct{ cond, value string }{
		{"coalesce(@.agent, s.agent) = ?", x.q.Agent},
		{"strpos(E'\\n' || lower(@.tools) || E'\\n', E'\\n' || lower(?::text COLLATE \"C\") || E'\\n') > 0", x.q.Tool},
		{"strpos(@.paths, ?) > 0", x.q.Path},
	} {
		if f.value != "" {
			w.Add(strings.ReplaceAll(f.cond, "@", events), columns.Plain(f.value))
		}
	}
	return w
}

// narrow adds the conditions that the SQL function find applies by itself.
func (x *searchScope) narrow(w *wire.Where) {
	q := &x.q
	if x.who != nil {
		w.Add("e.user_id = ?", *x.who)
	}
	if q.Role != "" {
		w.Add("e.role = ?", columns.Plain(string(q.Role)))
	}
	if q.Failed {
		w.Add("e.failed")
	}
	if q.Since != 0 {
		w.Add("e.at >= ?", int64(q.Since))
	}
	if q.Until != 0 {
		w.Add("e.at < ? AND e.at <> 0", int64(q.Until))
	}
}

// rewound returns the condition that the event e, or the one that it amends, is a
// message that was taken back.
func (x *searchScope) rewound() string {
	if x.shownIn != nil {
		return rewoundIn(strconv.FormatInt(x.shownIn.N, 10))
	}
	return rewoundIn("s.n")
}

// rewoundIn is rewound for the session with this number.
func rewoundIn(n string) string {
	const seq = `CASE WHEN e.amends IS NULL THEN e.seq ELSE e.amends END`
	return `EXISTS (SELECT FROM rewound_ranges u JOIN events k ON k.user_id = u.user_id AND k.n = e.n AND k.seq = ` + seq + ` AND k.kind = 'said'
		WHERE u.user_id = e.user_id AND u.n = ` + n + ` AND u.after < ` + seq + ` AND u.upto >= ` + seq + `)`
}

// current is the condition that no amendment up to seq ? has replaced e.
const current = currentBefore + `?` + currentAfter

const (
	currentBefore = `NOT EXISTS (SELECT FROM events a WHERE a.user_id = e.user_id AND a.n = e.n AND a.amends = CASE WHEN e.amends IS NULL THEN e.seq ELSE e.amends END AND a.seq > e.seq AND a.seq <= `
	currentAfter  = `)`
)

// inside returns the numbers of the only sessions to search; nil for all.
func (x *searchScope) inside() (all []int64) {
	for _, seg := range x.segs {
		all = append(all, seg.Session)
	}
	return all
}

// A scanRange is rows of found that are scanned in order.
type scanRange struct {
	cond  string // besides the search's own conditions
	args  []any
	order string
}

// stretches returns the ranges that a scan goes through, newest first.
func (x *searchScope) stretches() (all []scanRange) {
	switch {
	case x.shownIn != nil:
	case x.who != nil:
		return []scanRange{{order: "e.at DESC, e.n DESC, e.seq DESC"}}
	default:
		return []scanRange{{order: "-e.at, e.n, e.seq"}} // see found_all_by_time
	}
	for _, seg := range x.segs {
		all = append(all, scanRange{"e.n = ? AND e.seq > ? AND e.seq <= ?", []any{seg.Session, int64(seg.From), int64(seg.To)}, "e.seq DESC"})
	}
	return all
}

// simple returns a subquery for those sessions of the rows found (c) in which every
// event is found in its own session: nothing in them was amended or taken back, and
// they are not in the bin. It saves a search from checking each event's place.
func (x *searchScope) simple() string {
	if x.shownIn != nil {
		return `, simple AS (SELECT s.user_id, s.n, s.id, s.origin, s.project, s.repository, s.agent FROM sessions s WHERE false)`
	}
	none := func(table, cond string) string {
		return `NOT EXISTS (SELECT FROM ` + table + ` x WHERE x.user_id = k.user_id AND x.n = k.n` + cond + ` OFFSET 0)`
	}
	return `, simple AS MATERIALIZED (SELECT k.user_id, k.n, s.id, s.origin, s.project, s.repository, s.agent FROM (SELECT DISTINCT c.user_id, c.n FROM c) k
		CROSS JOIN LATERAL (SELECT s.id, s.origin, s.project, s.repository, s.agent FROM sessions s WHERE s.user_id = k.user_id AND s.n = k.n AND s.binned = 0 OFFSET 0) s
		WHERE ` + none("reparented", "") + ` AND ` + none("rewound_ranges", "") + ` AND ` + none("events", " AND x.amends IS NOT NULL") + `)`
}
