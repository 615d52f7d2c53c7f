package door

import (
	"net"
	"net/http"
	"time"
)

// CookieName is what the cookie of this name is called in the visitor's
// browser. Browsers send the cookies of one port to every other; the name
// contains the port so that two servers do not take each other's cookies. Over
// https, a browser accepts a cookie of this name only from that very host by https.
func (v Visitor) CookieName(name string) string {
	if _, port, err := net.SplitHostPort(v.host); err == nil && goodPort(port) {
		name += "_" + port
	}
	if v.https {
		return "__Host-" + name
	}
	return name
}

// Cookie returns a cookie for the visitor's browser with that lifetime. Scripts
// cannot read it, it is sent to no other site, and only over https if the
// browser uses that. A lifetime of 0 deletes the cookie.
func (v Visitor) Cookie(name, value string, lives time.Duration) *http.Cookie {
	c := &http.Cookie{
		Name: v.CookieName(name), Value: value, Path: "/", MaxAge: int(lives / time.Second),
		HttpOnly: true, Secure: v.https, SameSite: http.SameSiteStrictMode,
	}
	if lives <= 0 {
		c.MaxAge = -1
	}
	return c
}
