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

	shortest = 20 * time.Millisecond  // of work that a search may do,
	usual    = 150 * time.Millisecond // if the query does not say
	longest  = 10 * time.Second       // that statements get at least where nothing was found so soon
	busy     = 20                     // times as much as its work may a search take, where others keep the machine busy
	day      = 24 * time.Hour         // more is as good as no bound

	rowWork  = 5 * time.Microsecond   // what it takes to fetch one, without its text,
	rankWork = 120 * time.Microsecond // and to rank it
)

// codeCanceled is PostgreSQL's word for a statement that took too long.
const codeCanceled = "57014"

// errLate says that no more is to be looked at.
var errLate = errors.New("the budget of the search is spent")

// A searcher is one search under way.
type searcher struct {
	s       *Store
	q       skein.Query
	matcher *search.Matcher
	finder  indexQuery
	who     *string // whose rows; nil for everybody's
	where   where   // conditions on the events e, strands t and sessions s
	hits    []hit   // found so far
	seen    map[eventRef]bool
	cutOff  bool
	partial bool // what the hits count is not all: it stopped with enough of them
	limit   int
	shownIn *head          // the one session that is searched; its parent's hits are its own
	segs    walk.Segments  // of what that one shows, newest first
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
	session int64  // number of the one that it counts as
	sure    bool   // it does not have to be checked
	text    string // if the index does not have it
}

// Search implements [skein.Store].
func (s *Store) Search(ctx context.Context, q skein.Query) (r skein.Results, err error) {
	defer skein.Wrapf(&err, "postgres: search")
	leave, err := s.enter()
	if err != nil {
		return r, err
	}
	defer leave()
	x := &searcher{s: s, q: q, limit: q.MostHits(), seen: map[eventRef]bool{}}
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
	// First what the index does not have: what it is fed with meanwhile is
	// found twice, not never.
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

// part runs a part of the search on a state of the database, until it is
// through, or has done what the query allows.
func (x *searcher) part(ctx context.Context, f func(*conn) error) error {
	return x.timed(ctx, busy*x.work(), f)
}

// work is what each part of x may do, as the time that it takes where nothing else
// runs.
func (x *searcher) work() time.Duration {
	return min(max(cmp.Or(x.q.Deadline, usual), shortest), day)
}

// rows returns of how many rows x may do something that takes so much.
func (x *searcher) rows(each time.Duration) int { return int(min(x.work()/each, math.MaxInt32)) }

// insist is part, where the answer is not to be empty only because the machine
// is busy. What f looks at is bounded by the budget, or by how many rows it asks for.
func (x *searcher) insist(ctx context.Context, f func(*conn) error) error {
	before, cut := len(x.hits), x.cutOff
	err := x.part(ctx, f)
	if err == nil && x.cutOff && !cut && len(x.hits) == before {
		x.cutOff = false
		err = x.timed(ctx, max(longest, busy*x.work()), f)
	}
	return err
}

// timed is part with so much time.
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

// limit lets the statements that follow in the transaction take no longer than
// there is time.
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

// joins are what a search needs of an event e, from events or found, besides its
// row: whose session it counts as, and, of a deleted one, up to where its events
// are still shown. They are looked for by their keys, row by row (OFFSET 0): how
// many rows there are is not to be guessed from what find returns. Under row
// security an index is not used to compare with coalesce, which is not trusted
// to keep what it sees to itself, but with CASE.
func (x *searcher) joins() string {
	teller := owner
	if x.shownIn == nil {
		teller = x.teller()
	}
	return ` LEFT JOIN LATERAL (SELECT t.owner, t.upto FROM strands t WHERE t.user_id = e.user_id AND t.n = e.n OFFSET 0) t ON true
	CROSS JOIN LATERAL (SELECT ` + teller + ` AS n OFFSET 0) x
	CROSS JOIN LATERAL (SELECT s.n, s.id, s.origin, s.project, s.agent FROM sessions s WHERE s.user_id = e.user_id AND s.n = x.n OFFSET 0) s`
}

// owner is the number of the session that has the event e.
const owner = `CASE WHEN t.owner IS NULL THEN e.n ELSE t.owner END`

// teller says in which session the event e is found: the one that has it, if it
// stands there, else the first fork in which it does. Where what was taken back
// is asked for, it is found there too. NULL if it is found nowhere.
func (x *searcher) teller() string {
	const forks = `EXISTS (SELECT FROM bases b WHERE b.user_id = e.user_id AND b.base = e.n AND b.upto >= e.seq)`
	fits := func(n, upto string) string {
		return `(SELECT v.binned FROM sessions v WHERE v.user_id = e.user_id AND v.n = ` + n + `) = 0 AND ` + standsBefore + upto + standsAfter
	}
	const first = `(WITH RECURSIVE f (n, upto) AS (
			SELECT b.n, b.upto FROM bases b WHERE b.user_id = e.user_id AND b.base = e.n AND b.upto >= e.seq
			UNION ALL SELECT b.n, least(f.upto, b.upto) FROM f JOIN bases b ON b.user_id = e.user_id AND b.base = f.n AND b.upto >= e.seq)
		SELECT f.n FROM f WHERE %s AND %s ORDER BY f.n LIMIT 1)`
	own := `(t.upto IS NULL OR e.seq <= t.upto) AND ` + fits(owner, "coalesce(t.upto, a.seq)")
	standing := func(rewound string) string {
		return ` WHEN ` + own + ` AND ` + rewound + undoneIn(owner) + ` THEN ` + owner +
			` WHEN ` + forks + ` THEN ` + fmt.Sprintf(first, fits("f.n", "f.upto"), rewound+undoneIn("f.n"))
	}
	if !x.q.Rewound {
		return `CASE` + standing("NOT ") + ` END`
	}
	return `coalesce(CASE` + standing("NOT ") + ` END, CASE` + standing("") + ` END)`
}

// deep are conditions on what only events has.
func (x *searcher) deep() bool { return x.q.Agent != "" || x.q.Tool != "" || x.q.Path != "" }

// foundJoins returns what a search needs of an event e from found.
func (x *searcher) foundJoins() string { return x.eventJoin() + x.joins() }

// eventJoin returns what it needs of that from events, as d.
func (x *searcher) eventJoin() string {
	if !x.deep() {
		return ""
	}
	return ` CROSS JOIN LATERAL (SELECT d.agent, d.tools, d.paths FROM events d WHERE d.user_id = e.user_id AND d.n = e.n AND d.seq = e.seq OFFSET 0) d`
}

// conds returns the conditions, and those on what only events has, of which a
// row is called so.
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

// narrow adds the conditions that find has by itself.
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

// conditions works out which events may match at all; none says that none can.
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
		conds = append(conds, "(e.n = ? AND e.seq > ? AND e.seq <= ? AND "+stands+")")
		args = append(args, seg.Session, int64(seg.From), int64(seg.To), int64(seg.To))
	}
	x.where.add("("+strings.Join(conds, " OR ")+")", args...)
	x.shownIn = &h
	if !x.q.Rewound {
		x.where.add("NOT " + x.undone())
	}
	return false, nil
}

// undone says that the message that the event e is, or what stands in its place,
// was taken back.
func (x *searcher) undone() string {
	if x.shownIn != nil {
		return undoneIn(strconv.FormatInt(x.shownIn.n, 10))
	}
	return undoneIn("s.n")
}

// undoneIn says so of the session with this number.
func undoneIn(n string) string {
	const seq = `CASE WHEN e.amends IS NULL THEN e.seq ELSE e.amends END`
	return `EXISTS (SELECT FROM undone u JOIN events k ON k.user_id = u.user_id AND k.n = e.n AND k.seq = ` + seq + ` AND k.kind = 'said'
		WHERE u.user_id = e.user_id AND u.n = ` + n + ` AND u.after < ` + seq + ` AND u.upto >= ` + seq + `)`
}

// excludes reports whether the query's conditions on sessions leave h out.
func (x *searcher) excludes(h *skein.Session) bool {
	q := &x.q
	return h.Binned != 0 || q.User != "" && q.User != h.User ||
		q.Origin != "" && (h.Origin == nil || h.Origin.Format != q.Origin) ||
		q.Project != "" && !search.InProject(h.Project, q.Project)
}

// stands says that nothing up to seq ? has taken the place of e.
const stands = standsBefore + `?` + standsAfter

const (
	standsBefore = `NOT EXISTS (SELECT FROM events a WHERE a.user_id = e.user_id AND a.n = e.n AND a.amends = CASE WHEN e.amends IS NULL THEN e.seq ELSE e.amends END AND a.seq > e.seq AND a.seq <= `
	standsAfter  = `)`
)

// inside returns the numbers of the sessions that alone are looked through; nil
// for all.
func (x *searcher) inside() (all []int64) {
	for _, seg := range x.segs {
		all = append(all, seg.Session)
	}
	return all
}
