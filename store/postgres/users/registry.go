package users

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// A Registry keeps the accounts of a store.
type Registry struct{ wire.Principal }

var _ accounts.Registry = Registry{}

// own returns an error in a view: only the store of all users has accounts.
func (s Registry) own() error {
	if s.User != "" {
		return fmt.Errorf("accounts: %w to user %q", skein.ErrRefused, s.User)
	}
	return nil
}

// AddUser implements [accounts.Registry].
func (s Registry) AddUser(ctx context.Context, a accounts.Account) (err error) {
	defer skein.Wrapf(&err, "postgres: add user %q", a.User)
	if err := s.own(); err != nil {
		return err
	}
	// The rule for names is that of IDs.
	if err := skein.SessionID(a.User).Check(); err != nil || columns.Plain(string(a.User)) != string(a.User) {
		return fmt.Errorf("%w name of a user", skein.ErrInvalid)
	}
	return s.change(ctx, fmt.Errorf("user %q %w", a.User, skein.ErrExists), `INSERT INTO users (user_id, created, sessions, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		string(a.User), int64(skein.At(time.Now())), a.MaxSessions, a.MaxBytes)
}

// SetUser implements [accounts.Registry].
func (s Registry) SetUser(ctx context.Context, a accounts.Account) (err error) {
	defer skein.Wrapf(&err, "postgres: set user %q", a.User)
	if err := s.own(); err != nil {
		return err
	}
	return s.change(ctx, fmt.Errorf("user %q %w", a.User, skein.ErrNotFound), `UPDATE users SET sessions = $2, bytes = $3 WHERE user_id = $1`, string(a.User), a.MaxSessions, a.MaxBytes)
}

// change runs one statement, and returns the error none if it changes no row.
func (s Registry) change(ctx context.Context, none error, sql string, args ...any) error {
	return s.Write(ctx, func(t *wire.Tx) error {
		n, err := t.Exec(sql, args...)
		if err == nil && n == 0 {
			err = none
		}
		return err
	})
}

// Users implements [accounts.Registry].
func (s Registry) Users(ctx context.Context) (all []accounts.Account, err error) {
	defer skein.Wrapf(&err, "postgres: users")
	if err := s.own(); err != nil {
		return nil, err
	}
	err = s.Ask(ctx, `SELECT u.user_id, u.created, u.sessions, u.bytes, count(s.n), coalesce(sum(s.bytes), 0)::bigint
		FROM users u LEFT JOIN sessions s ON s.User_id = u.user_id GROUP BY u.user_id ORDER BY u.user_id`, nil, func(r wire.Row) error {
		var name string
		var created int64
		var a accounts.Account
		err := r.Scan(&name, &created, &a.MaxSessions, &a.MaxBytes, &a.Sessions, &a.Bytes)
		a.User, a.Created = skein.User(name), skein.Time(created)
		all = append(all, a)
		return err
	})
	return all, err
}

// RemoveUser implements [accounts.Registry].
func (s Registry) RemoveUser(ctx context.Context, u skein.User) (err error) {
	defer skein.Wrapf(&err, "postgres: remove user %q", u)
	if err := s.own(); err != nil {
		return err
	}
	return s.Write(ctx, func(t *wire.Tx) error {
		if _, err := t.Exec(`DELETE FROM tokens WHERE user_id = $1`, string(u)); err != nil {
			return err
		}
		if _, err := t.Exec(`DELETE FROM shares WHERE user_id = $1`, string(u)); err != nil {
			return err
		}
		n, err := t.Exec(`DELETE FROM users WHERE user_id = $1`, string(u))
		if err == nil && n == 0 {
			err = fmt.Errorf("user %q %w", u, skein.ErrNotFound)
		}
		return err
	})
}

// AddAccess implements [accounts.Registry].
func (s Registry) AddAccess(ctx context.Context, a accounts.Access) (err error) {
	defer skein.Wrapf(&err, "postgres: add token %q", a.Name)
	if err := s.own(); err != nil {
		return err
	}
	return s.Write(ctx, func(t *wire.Tx) error {
		if a.User != "" {
			there, err := t.One(`SELECT 1::bigint FROM users WHERE user_id = $1 FOR SHARE`, []any{string(a.User)}, new(int64))
			if err != nil {
				return err
			}
			if !there {
				return fmt.Errorf("user %q %w", a.User, skein.ErrNotFound)
			}
		}
		n, err := t.Exec(`INSERT INTO tokens (user_id, name, hash, scope, created, expires) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
			string(a.User), a.Name, a.Hash[:], a.Scope, int64(skein.At(time.Now())), int64(a.Expires))
		if err == nil && n == 0 {
			err = fmt.Errorf("token %q %w", a.Name, skein.ErrExists)
		}
		return err
	})
}

// Accesses implements [accounts.Registry].
func (s Registry) Accesses(ctx context.Context) (all []accounts.Access, err error) {
	defer skein.Wrapf(&err, "postgres: tokens")
	return s.accesses(ctx, `TRUE`)
}

// accesses returns the tokens for which cond is true.
func (s Registry) accesses(ctx context.Context, cond string, args ...any) (all []accounts.Access, err error) {
	if err := s.own(); err != nil {
		return nil, err
	}
	err = s.Ask(ctx, `SELECT user_id, name, hash, scope, created, expires FROM tokens WHERE `+cond+` ORDER BY name`, args, func(r wire.Row) error {
		var a accounts.Access
		var user string
		var hash []byte
		var created, expires int64
		err := r.Scan(&user, &a.Name, &hash, &a.Scope, &created, &expires)
		a.User, a.Created, a.Expires = skein.User(user), skein.Time(created), skein.Time(expires)
		copy(a.Hash[:], hash)
		all = append(all, a)
		return err
	})
	return all, err
}

// SetAccess implements [accounts.Registry].
func (s Registry) SetAccess(ctx context.Context, a accounts.Access) (err error) {
	defer skein.Wrapf(&err, "postgres: set token %q", a.Name)
	if err := s.own(); err != nil {
		return err
	}
	none := fmt.Errorf("token %q %w", a.Name, skein.ErrNotFound)
	if columns.Plain(a.Name) != a.Name {
		return none
	}
	return s.change(ctx, none, `UPDATE tokens SET scope = $2 WHERE name = $1`, a.Name, a.Scope)
}

// RemoveAccess implements [accounts.Registry].
func (s Registry) RemoveAccess(ctx context.Context, name string) (err error) {
	defer skein.Wrapf(&err, "postgres: remove token %q", name)
	if err := s.own(); err != nil {
		return err
	}
	return s.change(ctx, fmt.Errorf("token %q %w", name, skein.ErrNotFound), `DELETE FROM tokens WHERE name = $1`, name)
}

// FindAccesses implements [accounts.Registry].
func (s Registry) FindAccesses(ctx context.Context, hashes [][sha256.Size]byte) (all []accounts.Access, err error) {
	defer skein.Wrapf(&err, "postgres: find tokens")
	return s.accesses(ctx, `hash = ANY ($1)`, slicesOf(hashes))
}

// AccessNamed implements [accounts.Registry].
func (s Registry) AccessNamed(ctx context.Context, name string) (a accounts.Access, err error) {
	defer skein.Wrapf(&err, "postgres: token %q", name)
	none := fmt.Errorf("token %q %w", name, skein.ErrNotFound)
	if columns.Plain(name) != name {
		return a, none
	}
	all, err := s.accesses(ctx, `name = $1`, name)
	if err == nil && len(all) == 0 {
		err = none
	}
	if err != nil {
		return a, err
	}
	return all[0], nil
}
