package door

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

const (
	codeFor  = 10 * time.Minute    // how long a code to log in works
	loginFor = 30 * 24 * time.Hour // how long a login lasts
	maxCodes = 1000

	loginCookie = "skein_login"
)

// codes are the codes that log a browser in: each works once.
type codes struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]code // by hash: the time of a lookup reveals nothing
}

type code struct {
	token string // name of the token
	ends  time.Time
}

// make returns a new code for the token of that name, and false if too many
// codes are unused.
func (c *codes) make(token string, now time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, v := range c.all {
		if v.ends.Before(now) {
			delete(c.all, k)
		}
	}
	if len(c.all) >= maxCodes {
		return "", false
	}
	if c.all == nil {
		c.all = map[[sha256.Size]byte]code{}
	}
	s := rand.Text()
	c.all[sha256.Sum256([]byte(s))] = code{token, now.Add(codeFor)}
	return s, true
}

// use returns the name of the token that a code logs in with, and ends the
// code.
func (c *codes) use(s string, now time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := sha256.Sum256([]byte(s))
	found, ok := c.all[hash]
	delete(c.all, hash)
	return found.token, ok && found.ends.After(now)
}

// https reports whether the browser uses https: with this server, or with the
// proxy that [Options].Public names.
func (d *Door) https(r *http.Request) bool {
	return r.TLS != nil || d.Public != nil && d.Public.Scheme == "https" && strings.EqualFold(r.Host, d.Public.Host)
}

// shownBy returns the proof in a cookie. The hash includes the cookie's name: a
// login is not valid for another server of the host.
func shownBy(cookie *http.Cookie) proof {
	return proof{true, sha256.Sum256([]byte("login " + cookie.Name + " " + cookie.Value))}
}

// usedEvery limits how often the use of a login is recorded.
const usedEvery = time.Minute

// uses are the logins whose use was recorded last, and when.
type uses struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]time.Time
}

// due reports whether a use of a login should be recorded, and assumes that it
// is.
func (u *uses) due(hash [sha256.Size]byte, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.all[hash]) < usedEvery {
		return false
	}
	if u.all == nil || len(u.all) > maxAddr {
		u.all = map[[sha256.Size]byte]time.Time{}
	}
	u.all[hash] = now
	return true
}

// use records that a login was used. If it cannot be recorded, as in a
// read-only database, the visitor gets in anyway.
func (d *Door) use(r *http.Request, k proofInfo, p proof) {
	if k.login == "" || !d.uses.due(p.hash, d.now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), registryTime)
	defer cancel()
	if err := k.in.UseLogin(ctx, p.hash, skein.At(d.now()), address(r)); err != nil {
		d.Log.Warn("the use of a login was not noted", "err", err)
	}
}

// address returns where a request comes from: the proxy in front of this
// server, if there is one.
func address(r *http.Request) string {
	addr, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return addr
}

// Logins returns the valid logins, the last used first.
//
// The error is that of reading them.
func (t *Tokens) Logins(ctx context.Context) ([]accounts.Login, error) {
	all, err := t.browsers.Logins(ctx)
	if err != nil || t.registry == nil {
		return all, err
	}
	more, err := t.registry.Logins(ctx)
	for _, l := range more {
		if l.Expires.Std().After(t.now()) && t.living(tokenOf(l.Access)) && !t.has(l.Access.Name) {
			all = append(all, l)
		}
	}
	slices.SortStableFunc(all, func(a, b accounts.Login) int { return cmp.Compare(b.Used, a.Used) })
	return all, err
}

// EndLogins ends logins by their IDs, on all servers that share the tokens.
//
// The error wraps [skein.ErrNotFound] if none of them exists.
func (t *Tokens) EndLogins(ctx context.Context, ids ...string) error {
	n, err := t.browsers.RemoveLogins(ctx, ids)
	if err == nil && t.registry != nil {
		var more int
		more, err = t.registry.RemoveLogins(ctx, ids)
		n += more
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("login %q %w", strings.Join(ids, ", "), skein.ErrNotFound)
	}
	return err
}
