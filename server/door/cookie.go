package door

import (
	"net"
	"net/http"
	"time"
)

// CookieName is what the cookie of this name is called where the visitor's browser
// sees the server. Browsers send the cookies of one port to every other; so that
// two servers do not take each other's, the name has the port in it. By https a
// browser takes a cookie of this name only from that very host, by https.
func (v Visitor) CookieName(name string) string {
	if _, port, err := net.SplitHostPort(v.host); err == nil && goodPort(port) {
		name += "_" + port
	}
	if v.https {
		return "__Host-" + name
	}
	return name
}

// Cookie returns a cookie for the visitor's browser, for so long: no script sees
// it, it is sent to no other site, and only in secret if the browser can. 0 takes
// away the one of that name.
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
