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
)

const (
	cookieName = "skein_login"
	codeFor    = 10 * time.Minute    // how long a code to log in works
	loginFor   = 30 * 24 * time.Hour // how long a login lasts
	maxCodes   = 1000
)

// codes are what logs a browser in: each works once.
type codes struct {
	mu  sync.Mutex
	all map[string]code
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
		c.all = map[string]code{}
	}
	s := rand.Text()
	c.all[s] = code{token, now.Add(codeFor)}
	return s, true
}

// use returns the name of the token that a code logs in, and ends the code.
func (c *codes) use(s string, now time.Time) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.all[s]
	delete(c.all, s)
	return found.token, ok && found.ends.After(now)
}

// cookie returns the cookie that logs in with the token of that name.
func (d *Door) cookie(token string, secure bool) *http.Cookie {
	ends := strconv.FormatInt(d.now().Add(loginFor).Unix(), 10)
	body := base64.RawURLEncoding.EncodeToString([]byte(token)) + "." + ends
	return &http.Cookie{
		Name: cookieName, Value: body + "." + d.sign(body), Path: "/", HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteStrictMode, MaxAge: int(loginFor / time.Second),
	}
}

func (d *Door) sign(body string) string {
	h := hmac.New(sha256.New, []byte(d.tokens.First()))
	h.Write([]byte("login " + body))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// loggedIn returns the token that a request's cookie names.
func (d *Door) loggedIn(r *http.Request) (Token, bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return Token{}, false
	}
	i := strings.LastIndexByte(c.Value, '.')
	if i < 0 || !hmac.Equal([]byte(c.Value[i+1:]), []byte(d.sign(c.Value[:i]))) {
		return Token{}, false
	}
	name, ends, _ := strings.Cut(c.Value[:i], ".")
	until, err := strconv.ParseInt(ends, 10, 64)
	raw, err2 := base64.RawURLEncoding.DecodeString(name)
	if err != nil || err2 != nil || d.now().Unix() > until {
		return Token{}, false
	}
	return d.tokens.named(string(raw))
}
