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
		for left := f.Limit; ; {
			size := pageRows
			if f.Limit > 0 {
				size = min(size, left)
			}
			page, last, err := s.sessionPage(ctx, f, some, size)
			if err != nil {
				skein.Wrapf(&err, "postgres: sessions")
				yield(skein.Session{}, err)
				return
			}
			for _, x := range page {
				if !yield(x, nil) {
					return
				}
			}
			left -= len(page)
			if last == nil || f.Limit > 0 && left == 0 {
				return
			}
			f.Before = last
		}
	}
}

// sessionPage returns the next sessions of f in order, at most size of them, and
// the one to continue after; nil if there are no more. A page may be empty although
// more sessions follow.
func (s reads) sessionPage(ctx context.Context, f skein.Filter, some *titledSession, size int) (page []skein.Session, last *skein.Session, err error) {
	sql, args := s.listQuery(f, some, size)
	rows := 0
	var altered []int // in page
	err = s.ask(ctx, sql, args, func(r row) error {
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
	w.title(&f, some)
	w.args = append(w.args, size)
	return `SELECT ` + headColumns + `, s.updated FROM sessions s` + w.sql() +
		fmt.Sprintf(` ORDER BY %s, s.updated DESC, s.id LIMIT $%d`, s.order(&f).by, len(w.args)), w.args
}

// A where is the conditions of a query. Their texts are constants, so that there are
// few different statements.
type where struct {
	conds []string
	args  []any
}

// add adds a condition in which each ? stands for the next of args.
func (w *where) add(cond string, args ...any) {
	var b strings.Builder
	for i, piece := range strings.Split(cond, "?") {
		if i > 0 {
			w.args = append(w.args, args[i-1])
			fmt.Fprintf(&b, "$%d", len(w.args))
		}
		b.WriteString(piece)
	}
	w.conds = append(w.conds, b.String())
}

func (w *where) sql() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}

// where returns the conditions of f; the sessions that they select still have to be
// checked with [skein.Filter.Fits].
func (s reads) where(f *skein.Filter) *where {
	w := &where{}
	if s.user != "" {
		w.add("s.user_id = ?", string(s.user))
	}
	if f.Bin {
		w.add("s.binned <> 0")
	} else {
		w.add("s.binned = 0")
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
			w.add(x.cond, plain(x.value))
		}
	}
	if f.Parent != "" && s.user == "" { // a session that names another user's session as its parent is not its child
		w.add("s.user_id = coalesce((SELECT h.user_id FROM heads h WHERE h.id = ? AND h.last > 0), s.user_id)", plain(string(f.Parent)))
	}
	p, r := plain(f.Project), plain(f.Repository)
	switch {
	case p != "" && r != "":
		w.add("(s.project_head = left(?, 200) AND s.project = ? OR s.repository_head = left(?, 200) AND s.repository = ? AND s.repository <> '')", p, p, r, r)
	case p != "":
		w.add("s.project_head = left(?, 200) AND s.project = ?", p, p)
	case r != "":
		w.add("s.repository_head = left(?, 200) AND s.repository = ? AND s.repository <> ''", r, r)
	}
	w.names(f)
	w.times(f, s.order(f))
	for cond, is := range map[string]bool{
		"s.pinned": f.Pinned, "s.origin = ''": f.Born, "s.why <> 'child'": f.NoChildren, "NOT s.empty": !f.IncludeEmpty, "s.open": f.WithOpenCalls,
	} {
		if is {
			w.conds = append(w.conds, cond)
		}
	}
	if f.LargerThan > 0 {
		w.add("s.bytes > ?", f.LargerThan)
	}
	slices.Sort(w.conds) // the same text for the same set of conditions
	return w
}

// names adds the conditions on IDs.
func (w *where) names(f *skein.Filter) {
	if len(f.IDs) > 0 {
		w.add("s.id = ANY (?)", plainIDs(f.IDs))
	}
	if p := whole(f.IDPrefix); p != "" {
		w.add("s.id >= ? AND s.id < ?", p, p+"\U0010ffff")
	}
	switch end := f.IDSuffix; {
	case plain(end) != end: // it begins within a character
	case utf8.RuneCountInString(end) >= 4:
		w.add("s.id_end = right(?, 4)", end)
		fallthrough
	case end != "":
		w.add("right(s.id, ?) = ?", utf8.RuneCountInString(end), end)
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
func (w *where) times(f *skein.Filter, o listOrder) {
	if f.Since != 0 {
		w.add(o.newer+" AND s.updated >= ?", o.sign*int64(f.Since>>10), int64(f.Since))
	}
	if f.Until != 0 {
		w.add(o.older+" AND s.updated < ?", o.sign*int64(f.Until>>10), int64(f.Until))
	}
	if f.Before != nil {
		at := int64(f.Before.Updated)
		w.add(o.older+" AND s.updated <= ? AND (s.updated < ? OR s.id > ?)", o.sign*(at>>10), at, at, string(f.Before.ID))
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
