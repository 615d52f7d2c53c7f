package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

var _ accounts.AuditTrail = (*Store)(nil)

// everybodys returns an error in a view: only the store of all users has an audit trail.
func (s audits) everybodys() error {
	if s.user != "" {
		return fmt.Errorf("audit: %w to user %q", skein.ErrRefused, s.user)
	}
	return nil
}

// AddAudit implements [accounts.AuditTrail].
func (s audits) AddAudit(ctx context.Context, rows []accounts.AuditRow) (err error) {
	defer skein.Wrapf(&err, "sqlite: add %d rows to the audit", len(rows))
	if err := s.everybodys(); err != nil || len(rows) == 0 {
		return err
	}
	return s.change(ctx, func(t *txn.Tx) error {
		newest := skein.Time(0)
		for i := range rows {
			r := &rows[i]
			newest = max(newest, r.Last)
			if _, _, err := t.Exec(`INSERT INTO audit (hour, token, session, route, user_id, first, last, times) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET first = min(first, excluded.first), last = max(last, excluded.last), times = times + excluded.times, user_id = excluded.user_id`,
				r.Hour(), r.Token, string(r.Session), r.Route, string(r.User), int64(r.First), int64(r.Last), r.Times); err != nil {
				return err
			}
		}
		_, _, err := t.Exec(`DELETE FROM audit WHERE hour < ?`, int64((newest-skein.Time(accounts.AuditKept.Milliseconds()))/accounts.AuditHour))
		if err != nil {
			return err
		}
		_, _, err = t.Exec(`DELETE FROM audit WHERE (hour, token, session, route) <= (SELECT hour, token, session, route FROM audit
			ORDER BY hour DESC, token DESC, session DESC, route DESC LIMIT 1 OFFSET ?)`, accounts.MaxAudit)
		return err
	})
}

// Audit implements [accounts.AuditTrail].
func (s audits) Audit(ctx context.Context, q accounts.AuditQuery) (all []accounts.AuditRow, err error) {
	defer skein.Wrapf(&err, "sqlite: audit")
	if err := s.everybodys(); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		return c.Query(`SELECT token, user_id, session, route, first, last, times FROM audit WHERE (?1 = '' OR session = ?1) AND (?2 = '' OR token = ?2)
			ORDER BY last DESC, token, session, route LIMIT ?3 OFFSET ?4`,
			[]any{string(q.Session), q.Token, q.Size(), max(q.Skip, 0)}, func(row []driver.Value) error {
				var r accounts.AuditRow
				var user, session string
				var first, last int64
				err := engine.Scan(row, []any{&r.Token, &user, &session, &r.Route, &first, &last, &r.Times})
				r.User, r.Session, r.First, r.Last = skein.User(user), skein.SessionID(session), skein.Time(first), skein.Time(last)
				all = append(all, r)
				return err
			})
	})
	return all, err
}

// TokensUsed implements [accounts.AuditTrail].
func (s audits) TokensUsed(ctx context.Context) (used map[string]skein.Time, err error) {
	defer skein.Wrapf(&err, "sqlite: use of tokens")
	if err := s.everybodys(); err != nil {
		return nil, err
	}
	used = map[string]skein.Time{}
	err = s.read(ctx, func(c *engine.Conn) error {
		return c.Query(`SELECT token, max(last) FROM audit GROUP BY token`, nil, func(row []driver.Value) error {
			var name string
			var last int64
			err := engine.Scan(row, []any{&name, &last})
			used[name] = skein.Time(last)
			return err
		})
	})
	return used, err
}
