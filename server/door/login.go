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

// codes are what logs a browser in: each works once.
type codes struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]code // by hash: how long a look takes tells nothing
}

type code struct {
	token string // name
	ends  time.Time
}

// make returns a new code for the token of that name, and false if too many
// wait to be used.
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

// use returns the name of the token that a code logs in, and ends the code.
func (c *codes) use(s string, now time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	hash := sha256.Sum256([]byte(s))
	found, ok := c.all[hash]
	delete(c.all, hash)
	return found.token, ok && found.ends.After(now)
}

// https reports whether the browser speaks https: with this server, or with the
// one in front of it, whose name [Options].Public has.
func (d *Door) https(r *http.Request) bool {
	return r.TLS != nil || d.Public != nil && d.Public.Scheme == "https" && strings.EqualFold(r.Host, d.Public.Host)
}

// shownBy returns the proof that a cookie is. Its name is in the hash: a login is
// good for no other server of the host.
func shownBy(cookie *http.Cookie) proof {
	return proof{true, sha256.Sum256([]byte("login " + cookie.Name + " " + cookie.Value))}
}

// usedEvery is how often at most it is noted that a login was used.
const usedEvery = time.Minute

// uses are the logins whose use was noted last, and when.
type uses struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]time.Time
}

// due reports whether a use of a login is to be noted, and takes it that it is.
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

// use notes that a login was used. That it cannot be noted, as where a database
// is only read, keeps nobody out.
func (d *Door) use(r *http.Request, k known, p proof) {
	if k.login == "" || !d.uses.due(p.hash, d.now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), registryTime)
	defer cancel()
	if err := k.in.UseLogin(ctx, p.hash, skein.At(d.now()), address(r)); err != nil {
		d.Log.Warn("the use of a login was not noted", "err", err)
	}
}

// address returns where a request comes from: the server in front of this one,
// where there is one.
func address(r *http.Request) string {
	addr, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return addr
}

// Logins returns the logins that let in, those used last first.
//
// Errors are those of reading them.
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
// The error wraps [skein.ErrNotFound] if there is none of them.
func (t *Tokens) EndLogins(ctx context.Context, ids ...string) error {
	n, err := t.browsers.RemoveLogins(ctx, ids)
	if err == nil && t.registry != nil {
		var more int
		more, err = t.registry.RemoveLogins(ctx, ids)
		n += more
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("login %s: %w", strings.Join(ids, ", "), skein.ErrNotFound)
	}
	return err
}
