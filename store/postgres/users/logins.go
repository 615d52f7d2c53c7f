package users

import (
	"context"
	"crypto/sha256"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// slicesOf returns hashes as the driver expects them.
func slicesOf(hashes [][sha256.Size]byte) [][]byte {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	return all
}

// AddLogin implements [accounts.Registry].
func (s Registry) AddLogin(ctx context.Context, l accounts.Login) (err error) {
	defer skein.Wrapf(&err, "postgres: add login with the token %q", l.Access.Name)
	if err := s.own(); err != nil {
		return err
	}
	if columns.Plain(l.Access.Name) != l.Access.Name {
		return skein.ErrNotFound
	}
	return s.Write(ctx, func(t *wire.Tx) error {
		there, err := t.One(`SELECT 1::bigint FROM tokens WHERE name = $1 FOR KEY SHARE`, []any{l.Access.Name}, new(int64))
		if err != nil {
			return err
		}
		if !there {
			return skein.ErrNotFound
		}
		if _, err := t.Exec(`DELETE FROM logins WHERE expires <= $1`, int64(l.Created)); err != nil {
			return err
		}
		if _, err := t.Exec(`INSERT INTO logins (id, hash, token, device, address, created, used, expires) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			l.ID, l.Hash[:], l.Access.Name, columns.Plain(l.Device), columns.Plain(l.Address), int64(l.Created), int64(l.Used), int64(l.Expires)); err != nil {
			return err
		}
		_, err = t.Exec(`DELETE FROM logins WHERE id IN (SELECT id FROM logins WHERE token = $1 ORDER BY used DESC, id OFFSET $2)`, l.Access.Name, int64(accounts.MaxLogins))
		return err
	})
}

// Logins implements [accounts.Registry].
func (s Registry) Logins(ctx context.Context) (all []accounts.Login, err error) {
	defer skein.Wrapf(&err, "postgres: logins")
	return s.logins(ctx, `TRUE`)
}

// FindLogins implements [accounts.Registry].
func (s Registry) FindLogins(ctx context.Context, hashes [][sha256.Size]byte) (all []accounts.Login, err error) {
	defer skein.Wrapf(&err, "postgres: find logins")
	return s.logins(ctx, `l.hash = ANY ($1)`, slicesOf(hashes))
}

// logins returns the logins for which cond is true, with their tokens.
func (s Registry) logins(ctx context.Context, cond string, args ...any) (all []accounts.Login, err error) {
	if err := s.own(); err != nil {
		return nil, err
	}
	err = s.Ask(ctx, `SELECT l.id, l.hash, l.device, l.address, l.created, l.used, l.expires, t.user_id, t.name, t.hash, t.scope, t.created, t.expires
		FROM logins l JOIN tokens t ON t.name = l.token WHERE `+cond+` ORDER BY l.used DESC, l.id`, args, func(r wire.Row) error {
		var l accounts.Login
		var user string
		var hash, of []byte
		var at [5]int64
		err := r.Scan(&l.ID, &hash, &l.Device, &l.Address, &at[0], &at[1], &at[2], &user, &l.Access.Name, &of, &l.Access.Scope, &at[3], &at[4])
		l.Created, l.Used, l.Expires = skein.Time(at[0]), skein.Time(at[1]), skein.Time(at[2])
		l.Access.User, l.Access.Created, l.Access.Expires = skein.User(user), skein.Time(at[3]), skein.Time(at[4])
		copy(l.Hash[:], hash)
		copy(l.Access.Hash[:], of)
		all = append(all, l)
		return err
	})
	return all, err
}

// UseLogin implements [accounts.Registry].
func (s Registry) UseLogin(ctx context.Context, hash [sha256.Size]byte, at skein.Time, address string) (err error) {
	defer skein.Wrapf(&err, "postgres: use of a login")
	if err := s.own(); err != nil {
		return err
	}
	return s.change(ctx, nil, `UPDATE logins SET used = $2, address = $3 WHERE hash = $1 AND used < $2`, hash[:], int64(at), columns.Plain(address))
}

// RemoveLogins implements [accounts.Registry].
func (s Registry) RemoveLogins(ctx context.Context, ids []string) (n int, err error) {
	defer skein.Wrapf(&err, "postgres: end logins")
	if err := s.own(); err != nil {
		return 0, err
	}
	err = s.Write(ctx, func(t *wire.Tx) error {
		gone, err := t.Exec(`DELETE FROM logins WHERE id = ANY ($1)`, ids)
		n = int(gone)
		return err
	})
	return n, err
}
