package door

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
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

// cookie returns the cookie that logs in with a token, at the host that r names.
// What is signed has the cookie's name in it, and the token's hash: it is good
// for no other server, and for no later token of that name.
func (d *Door) cookie(r *http.Request, token Token, signer string) *http.Cookie {
	ends := strconv.FormatInt(d.now().Add(loginFor).Unix(), 10)
	body := base64.RawURLEncoding.EncodeToString([]byte(token.Name)) + "." + ends
	v := From(r.Context())
	name := v.CookieName(loginCookie)
	return v.Cookie(loginCookie, body+"."+sign(signer, name, body, token), loginFor)
}

func sign(signer, name, body string, token Token) string {
	h := hmac.New(sha256.New, []byte(signer))
	h.Write([]byte("login " + name + " " + body + " " + token.Hash))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// loggedIn returns the token that a request's cookie names. Its errors are those
// of [Tokens.Find].
func (d *Door) loggedIn(r *http.Request) (Token, error) {
	c, err := r.Cookie(From(r.Context()).CookieName(loginCookie))
	if err != nil || d.out.has(c.Value, d.now()) {
		return Token{}, skein.ErrNotFound
	}
	i := strings.LastIndexByte(c.Value, '.')
	if i < 0 {
		return Token{}, skein.ErrNotFound
	}
	name, ends, _ := strings.Cut(c.Value[:i], ".")
	until, err := strconv.ParseInt(ends, 10, 64)
	raw, err2 := base64.RawURLEncoding.DecodeString(name)
	if err != nil || err2 != nil || d.now().Unix() > until {
		return Token{}, skein.ErrNotFound
	}
	token, signer, err := d.tokens.named(string(raw))
	if err != nil {
		return Token{}, err
	}
	if !hmac.Equal([]byte(c.Value[i+1:]), []byte(sign(signer, c.Name, c.Value[:i], token))) {
		return Token{}, skein.ErrNotFound
	}
	return token, nil
}

// outs are logins that were ended before their time, until this process ends.
type outs struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]time.Time // the cookie's hash, and when it would have ended
}

func (o *outs) add(cookie string, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for k, ends := range o.all {
		if ends.Before(now) {
			delete(o.all, k)
		}
	}
	if o.all == nil {
		o.all = map[[sha256.Size]byte]time.Time{}
	}
	o.all[sha256.Sum256([]byte(cookie))] = now.Add(loginFor)
}

func (o *outs) has(cookie string, now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[sha256.Sum256([]byte(cookie))].After(now)
}
