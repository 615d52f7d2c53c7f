package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
	"github.com/skein-dev/skein/store/stream"
)

// Sessions implements [skein.Store].
func (s reads) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		some, err := s.named(ctx, &f)
		if err != nil {
			skein.Wrapf(&err, "postgres: sessions")
			yield(skein.Session{}, err)
			return
		}
		stream.Sessions(ctx, f, wire.PageRows, func(f skein.Filter, size int) (page []skein.Session, last *skein.Session, err error) {
			defer skein.Wrapf(&err, "postgres: sessions")
			return s.sessionPage(ctx, f, some, size)
		})(yield)
	}
}

// sessionPage returns the next sessions of f in order, at most size of them, and
// the one to continue after; nil if there are no more. A page may be empty although
// more sessions follow.
func (s reads) sessionPage(ctx context.Context, f skein.Filter, some *titledSession, size int) (page []skein.Session, last *skein.Session, err error) {
	sql, args := s.listQuery(f, some, size)
	rows := 0
	var altered []int // in page
	err = s.ask(ctx, sql, args, func(r wire.Row) error {
		var updated skein.Time
		h, err := scanHead(r, &updated)
		if err != nil {
			return err
		}
		rows++
		last = &skein.Session{ID: h.ID, Updated: updated}
		if h.Altered {
			altered = append(altered, len(page))
		} else if !f.Fits(&h.Session) {
			return nil
		}
		page = append(page, h.Session)
		return nil
	})
	if rows < size {
		last = nil
	}
	for _, i := range slices.Backward(altered) {
		h, err := s.headOf(ctx, page[i].ID)
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return nil, nil, err
		}
		if page[i] = h.Session; err != nil || !f.Fits(&h.Session) {
			page = slices.Delete(page, i, i+1)
		}
	}
	return page, last, err
}

// listQuery returns the query for the next sessions of f. The index has them in
// order by the second (1,024 ms); those of one second are then sorted.
func (s reads) listQuery(f skein.Filter, some *titledSession, size int) (sql string, args []any) {
	w := s.where(&f)
	title(w, &f, some)
	w.Args = append(w.Args, size)
	return `SELECT ` + headColumns + `, s.updated FROM sessions s` + w.SQL() +
		fmt.Sprintf(` ORDER BY %s, s.updated DESC, s.id LIMIT $%d`, s.order(&f).by, len(w.Args)), w.Args
}

// where returns the conditions of f; the sessions that they select still have to be
// checked with [skein.Filter.Fits].
func (s reads) where(f *skein.Filter) *wire.Where {
	w := &wire.Where{}
	if s.user != "" {
		w.Add("s.user_id = ?", string(s.user))
	}
	if f.Bin {
		w.Add("s.binned <> 0")
	} else {
		w.Add("s.binned = 0")
	}
	for _, x := range []struct{ cond, value string }{
		{"s.user_id = ?", string(f.User)},
		{"s.key = ? AND s.key <> ''", f.Key},
		{"s.agent = ?", f.Agent},
		{"s.profile = ?", f.Profile},
		{"s.model = ?", f.Model},
		{"s.origin = ?", f.Origin},
		{"s.surface = ?", f.Surface},
		{"s.parent = ? AND s.parent <> ''", string(f.Parent)},
		{"s.tags @> ARRAY[?::text]", f.Tag},
	} {
		if x.value != "" {
			w.Add(x.cond, columns.Plain(x.value))
		}
	}
	if f.Parent != "" && s.user == "" { // a session that names another user's session as its parent is not its child
		w.Add("s.user_id = coalesce((SELECT h.user_id FROM heads h WHERE h.id = ? AND h.last > 0), s.user_id)", columns.Plain(string(f.Parent)))
	}
	p, r := columns.Plain(f.Project), columns.Plain(f.Repository)
	switch {
	case p != "" && r != "":
		w.Add("(s.project_head = left(?, 200) AND s.project = ? OR s.repository_head = left(?, 200) AND s.repository = ? AND s.repository <> '')", p, p, r, r)
	case p != "":
		w.Add("s.project_head = left(?, 200) AND s.project = ?", p, p)
	case r != "":
		w.Add("s.repository_head = left(?, 200) AND s.repository = ? AND s.repository <> ''", r, r)
	}
	names(w, f)
	times(w, f, s.order(f))
	for cond, is := range map[string]bool{
		"s.pinned": f.Pinned, "s.origin = ''": f.Born, "s.why <> 'child'": f.NoChildren, "NOT s.empty": !f.IncludeEmpty, "s.open": f.WithOpenCalls,
	} {
		if is {
			w.Conds = append(w.Conds, cond)
		}
	}
	if f.LargerThan > 0 {
		w.Add("s.bytes > ?", f.LargerThan)
	}
	for _, by := range f.Chosen() {
		var values []string
		for _, v := range f.Among[by] {
			values = append(values, columns.Plain(v))
		}
		switch of := counted(by); {
		case by == skein.ByTag:
			w.Add("s.tags && ?::text[]", values)
		case of != "" && by != skein.BySlot:
			w.Add(of+" = ANY (?)", values)
		default:
			w.Add("false")
		}
	}
	slices.Sort(w.Conds) // the same text for the same set of conditions
	return w
}

// names adds the conditions on IDs.
func names(w *wire.Where, f *skein.Filter) {
	if len(f.IDs) > 0 {
		w.Add("s.id = ANY (?)", columns.PlainIDs(f.IDs))
	}
	if p := whole(f.IDPrefix); p != "" {
		w.Add("s.id >= ? AND s.id < ?", p, p+"\U0010ffff")
	}
	switch end := f.IDSuffix; {
	case columns.Plain(end) != end: // it begins within a character
	case utf8.RuneCountInString(end) >= 4:
		w.Add("s.id_end = right(?, 4)", end)
		fallthrough
	case end != "":
		w.Add("right(s.id, ?) = ?", utf8.RuneCountInString(end), end)
	}
}

// whole returns the longest beginning of prefix that is valid text.
func whole(prefix string) string {
	for i, r := range prefix {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(prefix[i:], "\ufffd") {
			return prefix[:i]
		}
	}
	return prefix
}

// times adds the conditions on times.
func times(w *wire.Where, f *skein.Filter, o listOrder) {
	if f.Since != 0 {
		w.Add(o.newer+" AND s.updated >= ?", o.sign*int64(f.Since>>10), int64(f.Since))
	}
	if f.Until != 0 {
		w.Add(o.older+" AND s.updated < ?", o.sign*int64(f.Until>>10), int64(f.Until))
	}
	if f.Before != nil {
		at := int64(f.Before.Updated)
		w.Add(o.older+" AND s.updated <= ? AND (s.updated < ? OR s.id > ?)", o.sign*(at>>10), at, at, string(f.Before.ID))
	}
}

// A listOrder is the part of the order of lists that an index provides, and the
// conditions for a range of it.
type listOrder struct {
	by, newer, older string
	sign             int64
}

// order returns the order of f's sessions. Lists of all users have an index of their
// own.
func (s reads) order(f *skein.Filter) listOrder {
	if s.user == "" && f.User == "" {
		return listOrder{"-s.recent", "-s.recent <= ?", "-s.recent >= ?", -1}
	}
	return listOrder{"s.recent DESC", "s.recent >= ?", "s.recent <= ?", 1}
}

// mostNamed limits how many sessions are looked up by title. If more match, lists
// check the titles as they go through the sessions, and are soon full.
const mostNamed = 500

// A titledSession is the sessions whose titles match.
type titledSession struct {
	users   []string
	numbers []int64
}

// named looks up the sessions that have f's title, by the index; nil if there are too
// many of them, or f has no title.
func (s reads) named(ctx context.Context, f *skein.Filter) (*titledSession, error) {
	if f.Title == "" {
		return nil, nil
	}
	var who *string
	if u := string(s.user); u != "" {
		who = &u
	} else if u := string(f.User); u != "" {
		who = &u
	}
	c := &titledSession{[]string{}, []int64{}}
	err := s.ask(ctx, `SELECT user_id, n FROM named($1, $2, $3)`, []any{who, "%" + likeEscape(smallTitle(f.Title)) + "%", mostNamed}, func(r wire.Row) error {
		var user string
		var n int64
		err := r.Scan(&user, &n)
		c.users, c.numbers = append(c.users, user), append(c.numbers, n)
		return err
	})
	if err != nil || len(c.users) == mostNamed {
		return nil, err
	}
	return c, nil
}

// likeEscape returns a LIKE pattern that matches only text.
func likeEscape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}

// smallTitle returns a title as stored in names.
func smallTitle(t string) string { return columns.Plain(strings.ToLower(t)) }

// title adds the condition on f's title; some, if not nil, are the only sessions that
// have it.
func title(w *wire.Where, f *skein.Filter, some *titledSession) {
	switch {
	case f.Title == "":
	case some != nil:
		w.Add("(s.user_id, s.n) IN (SELECT c.user_id, c.n FROM unnest(?::text[], ?::bigint[]) c (user_id, n))", some.users, some.numbers)
	default:
		w.Add("EXISTS (SELECT FROM names x WHERE x.user_id = s.user_id AND x.n = s.n AND position(? IN x.name) > 0)", smallTitle(f.Title))
	}
}
