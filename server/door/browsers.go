package door

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

// A logbook keeps logins: a file for those of the tokens in the file, the
// registry for others. Its methods are those of [accounts.Registry].
type logbook interface {
	AddLogin(ctx context.Context, l accounts.Login) error
	Logins(ctx context.Context) ([]accounts.Login, error)
	UseLogin(ctx context.Context, hash [sha256.Size]byte, at skein.Time, address string) error
	RemoveLogins(ctx context.Context, ids []string) (int, error)
}

// browsers are the logins of the tokens in a file, in a file beside it, one
// line of JSON each. All processes with the tokens share it, so that a login
// ended by one of them stays ended, after a restart too.
type browsers struct {
	of   *tokenFile
	file private
	all  []browser
}

// browser is a line of the file.
type browser struct {
	ID      string     `json:"id"`
	Hash    string     `json:"sha256"` // of the browser's cookie, in hexadecimal
	Token   string     `json:"token"`
	Seal    string     `json:"seal"` // of the token and the first token: the login ends if either changes
	Device  string     `json:"device"`
	Address string     `json:"address"`
	Created skein.Time `json:"created_at"`
	Used    skein.Time `json:"used_at"`
	Expires skein.Time `json:"expires_at"`
}

// seal returns what binds a login to its token and to the first token.
func (b *browsers) seal(m Token) string { return hashOf(b.of.first + " " + m.Hash) }

// read reads the file if it has changed; a file that does not exist has no
// logins.
func (b *browsers) read() (err error) {
	defer skein.Wrapf(&err, "logins %s", b.file.path)
	data, now, err := b.file.read()
	if errors.Is(err, fs.ErrNotExist) {
		b.file.seen, b.all = fileVersion{}, nil
		return nil
	}
	if err != nil || data == nil {
		return err
	}
	var all []browser
	for line := range bytes.Lines(data) {
		var x browser
		if err := json.Unmarshal(line, &x); err != nil || x.ID == "" || len(x.Hash) != 2*sha256.Size {
			return fmt.Errorf("line %d is not a login: remove the file, and everybody has to log in again", len(all)+1)
		}
		all = append(all, x)
	}
	b.file.seen, b.all = now, all
	return nil
}

// lives reports whether x is valid.
func (b *browsers) lives(x *browser) bool {
	m, ok := b.of.line(x.Token)
	return ok && b.of.living(m) && x.Seal == b.seal(m) && x.Expires.Std().After(b.of.now())
}

// living returns the valid logins, the last used first. The tokens must have
// been read, and be locked.
func (b *browsers) living() (all []accounts.Login, err error) {
	if err := b.read(); err != nil {
		return nil, err
	}
	for i := range b.all {
		x := &b.all[i]
		if !b.lives(x) {
			continue
		}
		m, _ := b.of.line(x.Token)
		l := accounts.Login{
			ID: x.ID, Access: accounts.Access{Name: m.Name, User: m.User, Scope: m.Scope, Expires: m.Expires},
			Device: x.Device, Address: x.Address, Created: x.Created, Used: x.Used, Expires: x.Expires,
		}
		hex.Decode(l.Hash[:], []byte(x.Hash)) //nolint:errcheck // one that is no hash is nobody's
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(x, y accounts.Login) int { return cmp.Compare(y.Used, x.Used) })
	return all, nil
}

// change replaces the valid logins with what f returns; one process at a time.
// If f changes nothing, nothing is written.
func (b *browsers) change(f func([]browser) (_ []browser, changed bool, _ error)) (err error) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	lock := flock.New(b.of.file.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := errors.Join(b.of.read(), b.read()); err != nil {
		return err
	}
	all := slices.DeleteFunc(slices.Clone(b.all), func(x browser) bool { return !b.lives(&x) })
	all, other, err := f(all)
	if err != nil || !other {
		return err
	}
	var text bytes.Buffer
	for _, x := range all {
		text.Write(append(skein.MustJSON(x), '\n'))
	}
	if err := b.file.replace(text.Bytes()); err != nil {
		return err
	}
	return b.read()
}

// AddLogin implements logbook.
func (b *browsers) AddLogin(_ context.Context, l accounts.Login) error {
	return b.change(func(all []browser) ([]browser, bool, error) {
		m, ok := b.of.line(l.Access.Name)
		if !ok {
			return nil, false, skein.ErrNotFound
		}
		all = append(all, browser{
			ID: l.ID, Hash: hex.EncodeToString(l.Hash[:]), Token: m.Name, Seal: b.seal(m),
			Device: l.Device, Address: l.Address, Created: l.Created, Used: l.Used, Expires: l.Expires,
		})
		slices.SortStableFunc(all, func(x, y browser) int { return cmp.Compare(y.Used, x.Used) })
		n := 0
		return slices.DeleteFunc(all, func(x browser) bool {
			if x.Token == m.Name {
				n++
			}
			return x.Token == m.Name && n > accounts.MaxLogins
		}), true, nil
	})
}

// Logins implements logbook.
func (b *browsers) Logins(context.Context) ([]accounts.Login, error) {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if err := b.of.read(); err != nil {
		return nil, err
	}
	return b.living()
}

// UseLogin implements logbook.
func (b *browsers) UseLogin(_ context.Context, hash [sha256.Size]byte, at skein.Time, address string) error {
	return b.change(func(all []browser) ([]browser, bool, error) {
		i := slices.IndexFunc(all, func(x browser) bool { return x.Hash == hex.EncodeToString(hash[:]) })
		if i < 0 || all[i].Used >= at {
			return nil, false, nil
		}
		all[i].Used, all[i].Address = at, address
		return all, true, nil
	})
}

// RemoveLogins implements logbook.
func (b *browsers) RemoveLogins(_ context.Context, ids []string) (n int, err error) {
	err = b.change(func(all []browser) ([]browser, bool, error) {
		rest := slices.DeleteFunc(slices.Clone(all), func(x browser) bool { return slices.Contains(ids, x.ID) })
		n = len(all) - len(rest)
		return rest, n > 0, nil
	})
	return n, err
}
