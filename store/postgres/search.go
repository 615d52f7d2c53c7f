package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/search"
)

const (
	catchUpFor = 100 * time.Millisecond

	shortest = 20 * time.Millisecond  // the least work that a search may do,
	usual    = 150 * time.Millisecond // how much it may do if the query does not say
	longest  = 10 * time.Second       // the least time that statements get if nothing was found at first
	busy     = 20                     // a search may take this many times its work, if the machine is busy
	day      = 24 * time.Hour         // a longer deadline is no limit

	rowWork  = 5 * time.Microsecond   // the time to fetch a row, without its text,
	rankWork = 120 * time.Microsecond // and to rank it
)

// codeCanceled is PostgreSQL's code for a statement that took too long.
const codeCanceled = "57014"

// errLate says that the search must look at nothing more.
var errLate = errors.New("the budget of the search is spent")

// A searcher is one search under way.
type searcher struct {
	s       *view
	q       skein.Query
	matcher *search.Matcher
	finder  indexQuery
	who     *string // the owner of the rows; nil for all users
	where   where   // conditions on the events e, reparented t, and sessions s
	hits    []hit   // found so far
	seen    map[eventRef]bool
	cutOff  bool
	partial bool // the hits' counts are incomplete: the search stopped with enough hits
	limit   int
	shownIn *head          // the only session to search; hits in its parent count as its own
	segs    walk.Segments  // of what shownIn shows, newest first
	budget  *search.Budget // what may still be looked at
	until   time.Time      // when statements end
}

// An eventRef is the place of a row of events.
type eventRef struct {
	user string
	n    int64
	seq  skein.Seq
}

// A hit is an event that matches.
type hit struct {
	skein.Hit
	at      eventRef
	session int64  // number of the session that it counts as
	sure    bool   // it need not be checked
	text    string // if it is not in the index
}

// Search implements [skein.Store].
func (s searches) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "postgres: search")
	leave, err := s.enter()
	if err != nil {
		return r, err
	}
	defer leave()
	x := &searcher{s: s.view, q: q, limit: q.MostHits(), seen: map[eventRef]bool{}}
	if x.matcher, err = search.NewMatcher(q); err != nil || search.Empty(&q) {
		return r, err
	}
	indexed := false
	if q.Substring == "" && q.Regex == "" {
		if x.finder, indexed = finderOf(q.Terms); indexed {
			s.catchUp(ctx, catchUpFor)
		}
	}
	if none, err := x.conditions(ctx); err != nil || none {
		return r, err
	}
	// First search what is not indexed: events that are indexed meanwhile are then
	// found twice instead of never.
	if err := x.insist(ctx, x.fresh); err != nil {
		return r, err
	}
	if indexed {
		err = x.ranked(ctx)
	} else {
		err = x.scanned(ctx)
	}
	if err != nil {
		return r, err
	}
	x.allow(ctx)
	return x.results(ctx)
}

// part runs a part of the search on a snapshot of the database, until it is done or
// has used what the query allows.
func (x *searcher) part(ctx context.Context, f func(*conn) error) error {
	return x.timed(ctx, busy*x.work(), f)
}

// work returns how much each part of x may do, as the time that it takes on an idle
// machine.
func (x *searcher) work() time.Duration {
	return min(max(cmp.Or(x.q.Deadline, usual), shortest), day)
}

// rows returns how many rows x may process if each takes that much time.
func (x *searcher) rows(each time.Duration) int { return int(min(x.work()/each, math.MaxInt32)) }

// insist is part, but the answer must not be empty only because the machine is busy.
// What f looks at is limited by the budget, or by how many rows it asks for.
func (x *searcher) insist(ctx context.Context, f func(*conn) error) error {
	before, cut := len(x.hits), x.cutOff
	err := x.part(ctx, f)
	if err == nil && x.cutOff && !cut && len(x.hits) == before {
		x.cutOff = false
		err = x.timed(ctx, max(longest, busy*x.work()), f)
	}
	return err
}

// timed is part with a time limit.
func (x *searcher) timed(ctx context.Context, most time.Duration, f func(*conn) error) error {
	x.until = time.Now().Add(most)
	x.allow(ctx)
	err := x.s.read(ctx, f)
	if errors.Is(err, errLate) || code(err) == codeCanceled && ctx.Err() == nil {
		x.cutOff, err = true, nil
	}
	return cmp.Or(ctx.Err(), err)
}

// allow lets the next part of x look at as much as the query allows.
func (x *searcher) allow(ctx context.Context) {
	x.budget = search.NewBudget(ctx, x.q.Deadline)
	x.matcher = x.matcher.Within(x.budget)
}

// limit sets the statement timeout for the rest of the transaction to the time left.
func (p *pipe) limit(until time.Time) {
	p.exec(`SELECT set_config('statement_timeout', $1::bigint::text, true)`, max(time.Until(until), time.Millisecond).Milliseconds())
}

// spend takes work from the budget. The error is errLate if nothing is left.
func (x *searcher) spend(work time.Duration) error {
	if !x.budget.Spend(work) {
		return errLate
	}
	return nil
}

// joins returns the joins that a search needs for an event e, from events or found:
// the session that it counts as and, for a deleted one, up to where its events are
// still shown. OFFSET 0 makes the planner look them up by their keys, row by row: it
// cannot estimate how many rows find returns. Under row security, an index is used
// for a comparison with CASE, but not with coalesce, which is not leakproof.
func (x *searcher) joins() string {
	foundIn := owner
	if x.shownIn == nil {
		foundIn = x.foundIn()
	}
	return ` LEFT JOIN LATERAL (SELECT t.owner, t.upto FROM reparented t WHERE t.user_id = e.user_id AND t.n = e.n OFFSET 0) t ON true
	CROSS JOIN LATERAL (SELECT ` + foundIn + ` AS n OFFSET 0) x
	CROSS JOIN LATERAL (SELECT s.n, s.id, s.origin, s.project, s.agent FROM sessions s WHERE s.user_id = e.user_id AND s.n = x.n OFFSET 0) s`
}

// owner is the number of the session that has the event e.
const owner = `CASE WHEN t.owner IS NULL THEN e.n ELSE t.owner END`

// foundIn returns an expression for the session in which the event e is found: the one
// that has it, if it is live there, else the first fork in which it is. If the query
// asks for what was taken back, it is found there too. NULL if it is found nowhere.
func (x *searcher) foundIn() string {
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
func (x *searcher) deep() bool { return x.q.Agent != "" || x.q.Tool != "" || x.q.Path != "" }

// foundJoins returns the joins that a search needs for an event e from found.
func (x *searcher) foundJoins() string { return x.eventJoin() + x.joins() }

// eventJoin returns the join with the row of e in events, as d, if that is needed.
func (x *searcher) eventJoin() string {
	if !x.deep() {
		return ""
	}
	return ` CROSS JOIN LATERAL (SELECT d.agent, d.tools, d.paths FROM events d WHERE d.user_id = e.user_id AND d.n = e.n AND d.seq = e.seq OFFSET 0) d`
}

// conds returns all conditions, including those on columns that only events has; events
// is the name of such a row in the query.
func (x *searcher) conds(events string) where {
	w := where{conds: slices.Clone(x.where.conds), args: slices.Clone(x.where.args)}
	for _, f := range []struct{ cond, value string }{
		{"coalesce(@.agent, s.agent) = ?", x.q.Agent},
		{"strpos(E'\\n' || lower(@.tools) || E'\\n', E'\\n' || lower(?::text COLLATE \"C\") || E'\\n') > 0", x.q.Tool},
		{"strpos(@.paths, ?) > 0", x.q.Path},
	} {
		if f.value != "" {
			w.add(strings.ReplaceAll(f.cond, "@", events), plain(f.value))
		}
	}
	return w
}

// narrow adds the conditions that the SQL function find applies by itself.
func (x *searcher) narrow(w *where) {
	q := &x.q
	if x.who != nil {
		w.add("e.user_id = ?", *x.who)
	}
	if q.Role != "" {
		w.add("e.role = ?", plain(string(q.Role)))
	}
	if q.Failed {
		w.add("e.failed")
	}
	if q.Since != 0 {
		w.add("e.at >= ?", int64(q.Since))
	}
	if q.Until != 0 {
		w.add("e.at < ? AND e.at <> 0", int64(q.Until))
	}
}

// conditions sets the conditions on events; none reports that no event can match.
func (x *searcher) conditions(ctx context.Context) (none bool, err error) {
	q, w := &x.q, &x.where
	user := q.User
	if x.s.user != "" {
		if user != "" && user != x.s.user {
			return true, nil
		}
		user = x.s.user
	}
	if user != "" {
		u := string(user)
		x.who = &u
	}
	if q.Session != "" {
		return x.within(ctx, q.Session)
	}
	if q.Origin != "" {
		w.add("s.origin = ?", plain(q.Origin))
	}
	if p := plain(q.Project); p != "" {
		w.add(`(s.project = ? OR right(s.project, length(?::text) + 1) IN ('/' || ?::text, '\' || ?::text))`, p, p, p, p)
	}
	return false, nil
}

// within limits x to what a session shows.
func (x *searcher) within(ctx context.Context, id skein.SessionID) (none bool, err error) {
	var h head
	err = x.s.read(ctx, func(q *conn) (err error) {
		if h, err = q.head(id); err == nil {
			x.segs, err = q.segments(&h, h.Last)
		}
		return err
	})
	if errors.Is(err, skein.ErrNotFound) {
		return true, nil
	}
	if err != nil || x.excludes(&h.Session) {
		return true, err
	}
	u := string(h.User)
	x.who = &u
	var conds []string
	var args []any
	for _, seg := range x.segs {
		conds = append(conds, "(e.n = ? AND e.seq > ? AND e.seq <= ? AND "+current+")")
		args = append(args, seg.Session, int64(seg.From), int64(seg.To), int64(seg.To))
	}
	x.where.add("("+strings.Join(conds, " OR ")+")", args...)
	x.shownIn = &h
	if !x.q.Rewound {
		x.where.add("NOT " + x.rewound())
	}
	return false, nil
}

// rewound returns the condition that the event e, or the one that it amends, is a
// message that was taken back.
func (x *searcher) rewound() string {
	if x.shownIn != nil {
		return rewoundIn(strconv.FormatInt(x.shownIn.n, 10))
	}
	return rewoundIn("s.n")
}

// rewoundIn is rewound for the session with this number.
func rewoundIn(n string) string {
	const seq = `CASE WHEN e.amends IS NULL THEN e.seq ELSE e.amends END`
	return `EXISTS (SELECT FROM rewound_ranges u JOIN events k ON k.user_id = u.user_id AND k.n = e.n AND k.seq = ` + seq + ` AND k.kind = 'said'
		WHERE u.user_id = e.user_id AND u.n = ` + n + ` AND u.after < ` + seq + ` AND u.upto >= ` + seq + `)`
}

// excludes reports whether the query's conditions on sessions exclude h.
func (x *searcher) excludes(h *skein.Session) bool {
	q := &x.q
	return h.Binned != 0 || q.User != "" && q.User != h.User ||
		q.Origin != "" && (h.Origin == nil || h.Origin.Format != q.Origin) ||
		q.Project != "" && !search.InProject(h.Project, q.Project)
}

// current is the condition that no amendment up to seq ? has replaced e.
const current = currentBefore + `?` + currentAfter

const (
	currentBefore = `NOT EXISTS (SELECT FROM events a WHERE a.user_id = e.user_id AND a.n = e.n AND a.amends = CASE WHEN e.amends IS NULL THEN e.seq ELSE e.amends END AND a.seq > e.seq AND a.seq <= `
	currentAfter  = `)`
)

// inside returns the numbers of the only sessions to search; nil for all.
func (x *searcher) inside() (all []int64) {
	for _, seg := range x.segs {
		all = append(all, seg.Session)
	}
	return all
}
