package users

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A ShareRegistry keeps the links to sessions of a store.
type ShareRegistry struct{ wire.Principal }

var _ accounts.Shares = ShareRegistry{}

// AddShare implements [accounts.Shares].
func (s ShareRegistry) AddShare(ctx context.Context, a accounts.SharedLink) (err error) {
	defer skein.Wrapf(&err, "postgres: share %s", a.Session)
	if err := Registry(s).own(); err != nil {
		return err
	}
	return s.Write(ctx, func(t *wire.Tx) error {
		found := false // the lock lets no purge pass that would not see the link
		err := t.Query(`SELECT n FROM sessions WHERE id = $1 AND user_id = $2 FOR KEY SHARE`, []any{string(a.Session), string(a.User)}, func(wire.Row) error {
			found = true
			return nil
		})
		if err == nil && !found {
			err = fmt.Errorf("session %s %w", a.Session, skein.ErrNotFound)
		}
		if err != nil {
			return err
		}
		added, err := t.Exec(`INSERT INTO shares (id, hash, user_id, session, shows, by, created, expires, views, viewed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
			columns.Plain(a.ID), a.Hash[:], string(a.User), string(a.Session), columns.Plain(string(a.Shows)), columns.Plain(a.By), int64(a.Created), int64(a.Expires), a.Views, int64(a.Viewed))
		if err == nil && added == 0 {
			err = fmt.Errorf("share %q %w", a.ID, skein.ErrExists)
		}
		return err
	})
}

// Shares implements [accounts.Shares].
func (s ShareRegistry) Shares(ctx context.Context, user skein.User, session skein.SessionID) (_ []accounts.SharedLink, err error) {
	defer skein.Wrapf(&err, "postgres: shares")
	return s.shares(ctx, `($1 = '' OR user_id = $1) AND ($2 = '' OR session = $2)`, columns.Plain(string(user)), columns.Plain(string(session)))
}

// FindShare implements [accounts.Shares].
func (s ShareRegistry) FindShare(ctx context.Context, hash [sha256.Size]byte) (_ accounts.SharedLink, err error) {
	defer skein.Wrapf(&err, "postgres: find a share")
	found, err := s.shares(ctx, `hash = $1`, hash[:])
	if err == nil && len(found) == 0 {
		err = skein.ErrNotFound
	}
	if err != nil {
		return accounts.SharedLink{}, err
	}
	return found[0], nil
}

// shares returns the links that a condition selects, the latest first.
func (s ShareRegistry) shares(ctx context.Context, cond string, args ...any) (all []accounts.SharedLink, err error) {
	if err := Registry(s).own(); err != nil {
		return nil, err
	}
	err = s.Ask(ctx, `SELECT id, hash, user_id, session, shows, by, created, expires, views, viewed FROM shares WHERE `+cond+` ORDER BY created DESC, id`, args, func(row wire.Row) error {
		var a accounts.SharedLink
		var hash []byte
		var user, session, shows string
		var created, expires, viewed int64
		err := row.Scan(&a.ID, &hash, &user, &session, &shows, &a.By, &created, &expires, &a.Views, &viewed)
		copy(a.Hash[:], hash)
		a.User, a.Session, a.Shows = skein.User(user), skein.SessionID(session), []byte(shows)
		a.Created, a.Expires, a.Viewed = skein.Time(created), skein.Time(expires), skein.Time(viewed)
		all = append(all, a)
		return err
	})
	return all, err
}

// CountView implements [accounts.Shares].
func (s ShareRegistry) CountView(ctx context.Context, id string, at skein.Time) (err error) {
	defer skein.Wrapf(&err, "postgres: count a view of share %q", id)
	if err := Registry(s).own(); err != nil {
		return err
	}
	return Registry(s).change(ctx, nil, `UPDATE shares SET views = views + 1, viewed = greatest(viewed, $2) WHERE id = $1`, columns.Plain(id), int64(at))
}

// RemoveShare implements [accounts.Shares].
func (s ShareRegistry) RemoveShare(ctx context.Context, user skein.User, id string) (err error) {
	defer skein.Wrapf(&err, "postgres: remove share %q", id)
	if err := Registry(s).own(); err != nil {
		return err
	}
	return Registry(s).change(ctx, skein.ErrNotFound, `DELETE FROM shares WHERE id = $1 AND ($2 = '' OR user_id = $2)`, columns.Plain(id), columns.Plain(string(user)))
}
