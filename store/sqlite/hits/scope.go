package hits

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

// A View is the part of a store in which a search takes place.
type View struct {
	User skein.User // "" for everybody's sessions
	Pack *pack.Packer
	Head func(*engine.Conn, skein.SessionID) (columns.Head, error) // the row of a session of this part
}

// A searchScope says where a search looks, and for what besides the words.
type searchScope struct {
	q       skein.Query
	view    View
	where   engine.Where  // conditions on the events e and sessions s
	shownIn *columns.Head // the one session that is searched; its parent's hits count as its own
	segs    walk.Segments // segments that this session shows, newest first
	of      engine.Where  // conditions on the sessions s that exclude some
	owners  string        // joins the sessions s to the events e
	moved   bool          // some events are shown by other sessions than the one that has them
}

// conditions determines which rows may match at all; none is true if no row can.
func (x *searchScope) conditions(c *engine.Conn) (none bool, err error) {
	x.eventConditions()
	owners, err := eventlog.FindOwners(c)
	if err != nil {
		return false, err
	}
	x.moved = owners.Shown != eventlog.NobodyMoved
	if x.q.Session != "" {
		x.owners = owners.Join + ` CROSS JOIN sessions s ON s.n = ` + owners.Owner
		x.where.Add(owners.Shown)
		return x.within(c, x.q.Session)
	}
	x.owners = owners.Join + ` CROSS JOIN sessions s ON s.n = ` + x.foundIn(owners)
	q, w := &x.q, &x.where
	for _, f := range []struct{ cond, value string }{
		{"s.user_id = ?", string(x.view.User)},
		{"s.user_id = ?", string(q.User)},
		{"s.origin = ?", q.Origin},
	} {
		if f.value != "" {
			x.of.Add(f.cond, f.value)
		}
	}
	if p, r := q.Project, q.Repository; p != "" || r != "" {
		// As search.InProject.
		x.of.Add(`EXISTS (SELECT 1 FROM (SELECT ? AS p, ? AS r) WHERE r <> '' AND s.repository = r
			OR p <> '' AND (p IN (s.project, s.repository) OR substr(s.project, -length(p) - 1) IN ('/' || p, char(92) || p) OR substr(s.repository, -length(p) - 1) = '/' || p))`, p, r)
	}
	w.Conds, w.Args = append(w.Conds, x.of.Conds...), append(w.Args, x.of.Args...)
	return false, nil
}

func (x *searchScope) eventConditions() {
	q, w := &x.q, &x.where
	for _, f := range []struct{ cond, value string }{
		{"e.role = ?", string(q.Role)},
		{"coalesce(e.agent, s.agent) = ?", q.Agent},
		{"instr(char(10) || lower(e.tools) || char(10), char(10) || lower(?) || char(10)) > 0", q.Tool},
		{"instr(e.paths, ?) > 0", q.Path},
	} {
		if f.value != "" {
			w.Add(f.cond, f.value)
		}
	}
	if q.Failed {
		w.Add("e.failed = 1")
	}
	if q.Since != 0 {
		w.Add("e.at >= ?", int64(q.Since))
	}
	if q.Until != 0 {
		w.Add("e.at < ? AND e.at <> 0", int64(q.Until))
	}
}

// within limits the search to what one session shows.
func (x *searchScope) within(c *engine.Conn, id skein.SessionID) (none bool, err error) {
	h, err := x.view.Head(c, id)
	if err != nil {
		none = errors.Is(err, skein.ErrNotFound)
		if none {
			err = nil
		}
		return none, err
	}
	if search.Excludes(&x.q, &h.Session) {
		return true, nil
	}
	segs, err := eventlog.Segments(c, h.N, h.Last)
	if err != nil {
		return false, err
	}
	var conds []string
	var args []any
	for _, seg := range segs {
		conds = append(conds, "(e.session = ? AND e.seq > ? AND e.seq <= ? AND "+current+")")
		args = append(args, seg.Session, int64(seg.From), int64(seg.To), int64(seg.To))
	}
	x.where.Add("("+strings.Join(conds, " OR ")+")", args...)
	x.shownIn, x.segs = &h, segs
	if !x.q.Rewound {
		x.where.Add("NOT " + x.rewound())
	}
	return false, nil
}

// foundIn returns an expression for the session in which the event e is found:
// the one that has e, if e is live there, otherwise the first fork in which it
// is. If the query includes what was taken back, e is found there, too. It is
// NULL if e is found nowhere.
func (x *searchScope) foundIn(o eventlog.Owners) string {
	const forks = `EXISTS (SELECT 1 FROM bases b WHERE b.base = e.session AND b.upto >= e.seq)`
	fits := func(n, upto string) string {
		return `(SELECT v.binned FROM sessions v WHERE v.n = ` + n + `) = 0 AND ` + currentBefore + upto + currentAfter
	}
	own := o.Shown + ` AND ` + fits(o.Owner, o.Upto)
	first := `(WITH RECURSIVE f (n, upto) AS (
			SELECT b.session, b.upto FROM bases b WHERE b.base = e.session AND b.upto >= e.seq
			UNION ALL SELECT b.session, min(f.upto, b.upto) FROM f JOIN bases b ON b.base = f.n AND b.upto >= e.seq)
		SELECT f.n FROM f WHERE ` + fits("f.n", "f.upto") + ` AND %s ORDER BY f.n LIMIT 1)`
	standing := func(rewound string) string {
		return ` WHEN ` + own + ` AND ` + rewound + rewoundIn(o.Owner) + ` THEN ` + o.Owner +
			` WHEN ` + forks + ` THEN ` + fmt.Sprintf(first, rewound+rewoundIn("f.n"))
	}
	if !x.q.Rewound {
		return `CASE` + standing("NOT ") + ` END`
	}
	return `coalesce(CASE` + standing("NOT ") + ` END, CASE` + standing("") + ` END)`
}

// hitColumns are the columns of the event e of the session s that scanHit
// reads. An amendment counts as the event that it amends.
func (x *searchScope) hitColumns() string {
	return `e.id, s.n, coalesce(e.amends, e.seq), ` + x.rewound() + `,` + hitColumns
}

// rewound returns the condition that the message that e is, or that is now live
// in its place, was taken back.
func (x *searchScope) rewound() string {
	if x.shownIn != nil {
		return rewoundIn(strconv.FormatInt(x.shownIn.N, 10))
	}
	return rewoundIn("s.n")
}

// rewoundIn is rewound for the session with number n.
func rewoundIn(n string) string {
	return `(e.role IS NOT NULL AND EXISTS (SELECT 1 FROM rewound_ranges u WHERE u.session = ` + n + ` AND u.after < coalesce(e.amends, e.seq) AND u.upto >= coalesce(e.amends, e.seq)))`
}

const hitColumns = `

	CASE WHEN e.amends IS NULL THEN e.turn ELSE (SELECT o.turn FROM events o WHERE o.session = e.session AND o.seq = e.amends) END, coalesce(e.role, ''),
	CASE WHEN e.amends IS NULL THEN e.at ELSE (SELECT o.at FROM events o WHERE o.session = e.session AND o.seq = e.amends) END, s.id`

// current is the condition that nothing up to seq ? has replaced e.
const current = currentBefore + `?` + currentAfter

const (
	currentBefore = `NOT EXISTS (SELECT 1 FROM events a INDEXED BY events_marks WHERE a.session = e.session AND a.seq > e.seq AND a.seq <= `
	currentAfter  = ` AND a.kind IN ('rewound', 'compacted', 'amended') AND a.amends = coalesce(e.amends, e.seq))`
)

func (x *searchScope) scanHit(row []driver.Value, more ...any) (h hit, err error) {
	var seq, rewound, turn, at int64
	var role, id string
	err = engine.Scan(row, append([]any{&h.id, &h.session, &seq, &rewound, &turn, &role, &at, &id}, more...))
	h.Session, h.Seq, h.Turn, h.Role, h.Time = skein.SessionID(id), skein.Seq(seq), int(turn), skein.Role(role), skein.Time(at)
	h.Rewound = rewound != 0
	if x.shownIn != nil {
		h.Session, h.session = x.shownIn.ID, x.shownIn.N
	}
	return h, err
}

// A scanRange is a range of events that a scan goes through, the newest first.
type scanRange struct {
	from        string
	place       string       // the column that orders the events
	after, last int64        // the places before the first and of the last one
	where       engine.Where // in addition to the search's own conditions
}

// stretches returns the ranges in which a scan finds the events with IDs
// greater than upto. The events of one session are in the order of their seqs:
// they need no sorting, so the first arrive at once. If few events are left to
// look at, it goes by their IDs, which is faster.
func (x *searchScope) stretches(c *engine.Conn, upto int64) ([]scanRange, error) {
	var last int64
	if _, err := c.One(`SELECT coalesce(max(id), 0) FROM events`, nil, &last); err != nil {
		return nil, err
	}
	byID := scanRange{from: "events e", place: "e.id", after: upto, last: last}
	if x.shownIn == nil {
		return []scanRange{byID}, nil
	}
	byID.from = "events e NOT INDEXED"
	if upto > 0 && last-upto <= int64(x.shownIn.Last) {
		return []scanRange{byID}, nil
	}
	all := make([]scanRange, 0, len(x.segs))
	for _, seg := range x.segs {
		one := scanRange{from: "events e INDEXED BY events_by_seq", place: "e.seq", after: int64(seg.From), last: int64(seg.To)}
		one.where.Add("e.session = ? AND e.id > ?", seg.Session, upto)
		all = append(all, one)
	}
	return all, nil
}
