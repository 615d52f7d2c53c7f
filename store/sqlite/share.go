package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

var _ accounts.Shares = (*Store)(nil)

// all returns an error in a view: only the store of all users has links.
func (s sharing) all() error {
	if s.user != "" {
		return fmt.Errorf("shares: %w to user %q", skein.ErrRefused, s.user)
	}
	return nil
}

// AddShare implements [accounts.Shares].
func (s sharing) AddShare(ctx context.Context, a accounts.SharedLink) (err error) {
	defer skein.Wrapf(&err, "sqlite: share %s", a.Session)
	if err := s.all(); err != nil {
		return err
	}
	return s.change(ctx, func(t *txn.Tx) error {
		var n int64
		found, err := t.One(`SELECT n FROM sessions WHERE id = ? AND user_id = ?`, []any{string(a.Session), string(a.User)}, &n)
		if err == nil && !found {
			err = fmt.Errorf("session %s %w", a.Session, skein.ErrNotFound)
		}
		if err != nil {
			return err
		}
		_, added, err := t.Exec(`INSERT INTO shares (id, hash, user_id, session, shows, by, created, expires, views, viewed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			a.ID, a.Hash[:], string(a.User), string(a.Session), string(a.Shows), a.By, int64(a.Created), int64(a.Expires), a.Views, int64(a.Viewed))
		if err == nil && added == 0 {
			err = fmt.Errorf("share %q %w", a.ID, skein.ErrExists)
		}
		return err
	})
}

// Shares implements [accounts.Shares].
func (s sharing) Shares(ctx context.Context, user skein.User, session skein.SessionID) (_ []accounts.SharedLink, err error) {
	defer skein.Wrapf(&err, "sqlite: shares")
	return s.find(ctx, `(?1 = '' OR user_id = ?1) AND (?2 = '' OR session = ?2)`, string(user), string(session))
}

// FindShare implements [accounts.Shares].
func (s sharing) FindShare(ctx context.Context, hash [sha256.Size]byte) (_ accounts.SharedLink, err error) {
	defer skein.Wrapf(&err, "sqlite: find a share")
	found, err := s.find(ctx, `hash = ?`, hash[:])
	if err == nil && len(found) == 0 {
		err = skein.ErrNotFound
	}
	if err != nil {
		return accounts.SharedLink{}, err
	}
	return found[0], nil
}

// find returns the links that a condition selects, the latest first.
func (s sharing) find(ctx context.Context, cond string, args ...any) (all []accounts.SharedLink, err error) {
	if err := s.all(); err != nil {
		return nil, err
	}
	err = s.read(ctx, func(c *engine.Conn) error {
		return c.Query(`SELECT id, hash, user_id, session, shows, by, created, expires, views, viewed FROM shares WHERE `+cond+` ORDER BY created DESC, id`, args, func(row []driver.Value) error {
			var a accounts.SharedLink
			var hash []byte
			var user, session, shows string
			var created, expires, viewed int64
			err := engine.Scan(row, []any{&a.ID, &hash, &user, &session, &shows, &a.By, &created, &expires, &a.Views, &viewed})
			copy(a.Hash[:], hash)
			a.User, a.Session, a.Shows = skein.User(user), skein.SessionID(session), []byte(shows)
			a.Created, a.Expires, a.Viewed = skein.Time(created), skein.Time(expires), skein.Time(viewed)
			all = append(all, a)
			return err
		})
	})
	return all, err
}

// CountView implements [accounts.Shares].
func (s sharing) CountView(ctx context.Context, id string, at skein.Time) (err error) {
	defer skein.Wrapf(&err, "sqlite: count a view of share %q", id)
	if err := s.all(); err != nil {
		return err
	}
	return s.change(ctx, func(t *txn.Tx) error {
		_, _, err := t.Exec(`UPDATE shares SET views = views + 1, viewed = max(viewed, ?) WHERE id = ?`, int64(at), id)
		return err
	})
}

// RemoveShare implements [accounts.Shares].
func (s sharing) RemoveShare(ctx context.Context, user skein.User, id string) (err error) {
	defer skein.Wrapf(&err, "sqlite: remove share %q", id)
	if err := s.all(); err != nil {
		return err
	}
	return s.change(ctx, func(t *txn.Tx) error {
		_, n, err := t.Exec(`DELETE FROM shares WHERE id = ?1 AND (?2 = '' OR user_id = ?2)`, id, string(user))
		if err == nil && n == 0 {
			err = skein.ErrNotFound
		}
		return err
	})
}
