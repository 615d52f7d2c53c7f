package users

import (
	"cmp"
	"context"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

var _ accounts.AuditTrail = Registry{}

// AddAudit implements [accounts.AuditTrail].
func (s Registry) AddAudit(ctx context.Context, rows []accounts.AuditRow) (err error) {
	defer skein.Wrapf(&err, "postgres: add %d rows to the audit", len(rows))
	if err := s.own(); err != nil || len(rows) == 0 {
		return err
	}
	// Servers that add at the same time lock the rows in one order.
	rows = slices.SortedFunc(slices.Values(rows), func(a, b accounts.AuditRow) int {
		return cmp.Or(cmp.Compare(a.Hour(), b.Hour()), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Route, b.Route))
	})
	return s.Write(ctx, func(t *wire.Tx) error {
		newest := skein.Time(0)
		for i := range rows {
			r := &rows[i]
			newest = max(newest, r.Last)
			if _, err := t.Exec(`INSERT INTO audit (hour, token, session, route, user_id, first, last, times) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
				ON CONFLICT (hour, token, session, route) DO UPDATE SET first = least(audit.first, excluded.first), last = greatest(audit.last, excluded.last),
				times = audit.times + excluded.times, user_id = excluded.user_id`,
				r.Hour(), columns.Plain(r.Token), columns.Plain(string(r.Session)), columns.Plain(r.Route), columns.Plain(string(r.User)), int64(r.First), int64(r.Last), r.Times); err != nil {
				return err
			}
		}
		if _, err := t.Exec(`DELETE FROM audit WHERE hour < $1`, int64((newest-skein.Time(accounts.AuditKept.Milliseconds()))/accounts.AuditHour)); err != nil {
			return err
		}
		_, err := t.Exec(`DELETE FROM audit WHERE (hour, token, session, route) <= (SELECT hour, token, session, route FROM audit
			ORDER BY hour DESC, token DESC, session DESC, route DESC LIMIT 1 OFFSET $1)`, int64(accounts.MaxAudit))
		return err
	})
}

// Audit implements [accounts.AuditTrail].
func (s Registry) Audit(ctx context.Context, q accounts.AuditQuery) (all []accounts.AuditRow, err error) {
	defer skein.Wrapf(&err, "postgres: audit")
	if err := s.own(); err != nil {
		return nil, err
	}
	err = s.Ask(ctx, `SELECT token, user_id, session, route, first, last, times FROM audit WHERE ($1 = '' OR session = $1) AND ($2 = '' OR token = $2)
		ORDER BY last DESC, token, session, route LIMIT $3 OFFSET $4`,
		[]any{columns.Plain(string(q.Session)), columns.Plain(q.Token), int64(q.Size()), int64(max(q.Skip, 0))}, func(row wire.Row) error {
			var r accounts.AuditRow
			var user, session string
			var first, last int64
			err := row.Scan(&r.Token, &user, &session, &r.Route, &first, &last, &r.Times)
			r.User, r.Session, r.First, r.Last = skein.User(user), skein.SessionID(session), skein.Time(first), skein.Time(last)
			all = append(all, r)
			return err
		})
	return all, err
}

// TokensUsed implements [accounts.AuditTrail].
func (s Registry) TokensUsed(ctx context.Context) (used map[string]skein.Time, err error) {
	defer skein.Wrapf(&err, "postgres: use of tokens")
	if err := s.own(); err != nil {
		return nil, err
	}
	used = map[string]skein.Time{}
	err = s.Ask(ctx, `SELECT token, max(last) FROM audit GROUP BY token`, nil, func(row wire.Row) error {
		var name string
		var last int64
		err := row.Scan(&name, &last)
		used[name] = skein.Time(last)
		return err
	})
	return used, err
}
