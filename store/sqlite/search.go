package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/columns"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/eventlog"
)

const (
	catchUpFor    = 100 * time.Millisecond
	recentMatches = 2000 // the most matches of some sessions to take, if all sessions' matches are too many to rank
)

// The time that work takes if nothing else runs.
const (
	placeWork  = time.Microsecond      // to find one place in the index
	matchWork  = 10 * time.Microsecond // and to rank it
	rowWork    = 5 * time.Microsecond  // to read one event, without its text
	filterWork = 2 * time.Microsecond  // and to see that it does not satisfy the conditions
)

// A searcher is one search in progress.
type searcher struct {
	store   *view
	q       skein.Query
	matcher *search.Matcher
	where   engine.Where // conditions on the events e and sessions s
	hits    []hit
	cutOff  bool
	partial bool // the counts of the hits are incomplete: it stopped once there were enough hits
	limit   int
	shownIn *columns.Head  // the one session that is searched; its parent's hits count as its own
	segs    walk.Segments  // segments that this session shows, newest first
	of      engine.Where   // conditions on the sessions s that exclude some
	owners  string         // joins the sessions s to the events e
	moved   bool           // some events are shown by other sessions than the one that has them
	budget  *search.Budget // the work that may still be done
	looked  int            // places of the index that were looked at to find those of some sessions
}

// A hit is a row that matches.
type hit struct {
	skein.Hit
	id      int64  // of the event
	session int64  // the session's number
	expr    string // the expression by which the index found it; "" if a scan did
	passage int64  // the row of the index that has what matches of a long text; 0 if the text is not long
}

// Search implements [skein.Store].
func (s *searches) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "sqlite: search")
	leave, err := s.enter()
	if err != nil {
		return r, err
	}
	defer leave()
	x := &searcher{store: s.view, q: q, limit: q.MostHits()}
	if x.matcher, err = search.NewMatcher(q); err != nil || search.Empty(&q) {
		return r, err
	}
	expr, indexed := "", false
	if q.Substring == "" && q.Regex == "" {
		if expr, indexed = matchExpr(q.Terms); indexed {
			s.catchUp(ctx, catchUpFor)
		}
	}
	err = s.readers.Read(ctx, func(c *engine.Conn) error {
		if none, err := s.conditions(c, x); err != nil || none {
			return err
		}
		x.allow(ctx)
		if !indexed {
			return x.scan(c, 0)
		}
		return x.ranked(c, expr)
	})
	if err != nil {
		return skein.Results{}, err
	}
	x.allow(ctx)
	err = s.readers.Read(ctx, func(c *engine.Conn) error {
		r, err = x.results(c)
		return err
	})
	return r, err
}

// allow lets the next part of x do as much work as the query allows.
func (x *searcher) allow(ctx context.Context) {
	x.budget = search.NewBudget(ctx, x.q.Deadline)
	x.matcher = x.matcher.Within(x.budget)
}

// errSpent ends a search that has used up its budget.
var errSpent = errors.New("the budget of the search is spent")

// spend takes work from the budget. The error is errSpent if nothing is left.
func (x *searcher) spend(work time.Duration) error {
	if x.budget.Spend(work) {
		return nil
	}
	return cmp.Or(x.budget.Err(), errSpent)
}

// cut returns err, unless it says that the budget is spent: then it marks the
// search as cut off.
func (x *searcher) cut(err error) error {
	if errors.Is(err, errSpent) {
		x.cutOff, err = true, nil
	}
	return err
}

// conditions determines which rows may match at all; none is true if no row can.
func (s *searches) conditions(c *engine.Conn, x *searcher) (none bool, err error) {
	x.eventConditions()
	owners, err := eventlog.FindOwners(c)
	if err != nil {
		return false, err
	}
	x.moved = owners.Shown != eventlog.NobodyMoved
	if x.q.Session != "" {
		x.owners = owners.Join + ` CROSS JOIN sessions s ON s.n = ` + owners.Owner
		x.where.Add(owners.Shown)
		return s.within(c, x, x.q.Session)
	}
	x.owners = owners.Join + ` CROSS JOIN sessions s ON s.n = ` + x.foundIn(owners)
	q, w := &x.q, &x.where
	for _, f := range []struct{ cond, value string }{
		{"s.user_id = ?", string(s.user)},
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

func (x *searcher) eventConditions() {
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

// within limits x to what one session shows.
func (s *searches) within(c *engine.Conn, x *searcher, id skein.SessionID) (none bool, err error) {
	h, err := s.head(c, id)
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
func (x *searcher) foundIn(o eventlog.Owners) string {
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
func (x *searcher) hitColumns() string {
	return `e.id, s.n, coalesce(e.amends, e.seq), ` + x.rewound() + `,` + hitColumns
}

// rewound returns the condition that the message that e is, or that is now live
// in its place, was taken back.
func (x *searcher) rewound() string {
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

func (x *searcher) scanHit(row []driver.Value, more ...any) (h hit, err error) {
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
