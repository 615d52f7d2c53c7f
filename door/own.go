package door

import (
	"crypto/rand"
	"errors"
	"html"
	"net/http"
	"net/url"
	"strings"

	"github.com/skein-dev/skein"
)

// own are the door's own routes: whether it is alive, and to log in and out.
func (d *Door) own() []Route {
	form := []string{"application/x-www-form-urlencoded"}
	return []Route{
		{Pattern: "GET /healthz", Scope: Open, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Write([]byte("ok\n")) //nolint:errcheck // the client has gone
		})},
		{Pattern: "POST /v1/login-codes", Scope: Read, Handler: http.HandlerFunc(d.newCode)},
		{Pattern: "GET /login", Scope: Open, Page: true, Handler: http.HandlerFunc(d.withCode)},
		{Pattern: "POST /login", Scope: Open, Page: true, Body: 64 << 10, Types: form, Handler: http.HandlerFunc(d.withToken)},
		{Pattern: "POST /logout", Scope: Open, Page: true, Body: 64 << 10, Types: form, Handler: http.HandlerFunc(d.leave)},
	}
}

// Code returns a code that logs one browser in with the first token, and false
// if too many wait to be used. The page is /login?code=CODE.
func (d *Door) Code() (string, bool) { return d.codes.make(First, d.now()) }

// newCode answers with a code for the token that asks. A login is not enough:
// it would never end, with a code for the next one.
func (d *Door) newCode(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		Refuse(w, r, http.StatusForbidden, "login", "a code is made for who shows a token, not for a login")
		return
	}
	c, ok := d.codes.make(From(r.Context()).Token, d.now())
	if !ok {
		Refuse(w, r, http.StatusTooManyRequests, "codes", "too many codes wait to be used")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	w.Write(skein.MustJSON(struct { //nolint:errcheck // the client has gone
		Code string `json:"code"`
		Path string `json:"path"`
	}{c, "/login?code=" + url.QueryEscape(c)}))
}

// withCode logs a browser in with a code, or shows the form.
func (d *Door) withCode(w http.ResponseWriter, r *http.Request) {
	c := r.URL.Query().Get("code")
	if c == "" || r.Method == http.MethodHead { // who only looks at a link does not use it up
		d.stranger(w, r, Route{Page: true}, false)
		return
	}
	name, ok := d.codes.use(c, d.now())
	if !ok {
		d.stranger(w, r, Route{Page: true}, true)
		return
	}
	d.asNamed(w, r, name)
}

// withToken logs a browser in with the token that a person typed.
func (d *Door) withToken(w http.ResponseWriter, r *http.Request) {
	found, err := d.tokens.Find(r.Context(), strings.TrimSpace(r.PostFormValue("token")))
	if err != nil {
		d.unknown(w, r, Route{Page: true}, true, err)
		return
	}
	d.asNamed(w, r, found.Name)
}

// asNamed logs a browser in with the token of that name: it stores the login,
// sets the cookie, and leads on with a page of this site. After a redirect from
// elsewhere the browser would keep a strict cookie to itself.
func (d *Door) asNamed(w http.ResponseWriter, r *http.Request, name string) {
	token, book, err := d.tokens.named(r.Context(), name)
	if err != nil {
		d.unknown(w, r, Route{Page: true}, true, err)
		return
	}
	now := skein.At(d.now())
	ends := skein.At(d.now().Add(loginFor))
	c := From(r.Context()).Cookie(loginCookie, rand.Text(), loginFor)
	err = book.AddLogin(r.Context(), skein.Login{
		ID: strings.ToLower(rand.Text()[:8]), Hash: shownBy(c).hash, Access: skein.Access{Name: token.Name},
		Device: device(r.UserAgent()), Address: address(r), Created: now, Used: now, Expires: ends,
	})
	if err != nil {
		d.unknown(w, r, Route{Page: true}, true, err)
		return
	}
	http.SetCookie(w, c)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	to := html.EscapeString(next(r))
	w.Write([]byte(strings.ReplaceAll(inPage, "NEXT", to))) //nolint:errcheck // the client has gone
}

// next returns the page of this site that a link to log in leads to; the first
// one if it names none. What is escaped in it stays so.
func next(r *http.Request) string { return local(r.URL.Query().Get("next")) }

// local returns path if it is one of this site, else the first page's.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\\r\n") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// arrives reports whether a request is a person's way here from another site, or
// that way loaded again: the browser then keeps a strict cookie to itself.
func arrives(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// comeAgain answers with a page that leads to itself: a page of this site's own
// then asks, and the browser shows the cookie, if it has one.
func (d *Door) comeAgain(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write([]byte(strings.ReplaceAll(againPage, "NEXT", html.EscapeString(local(r.URL.RequestURI()))))) //nolint:errcheck // the client has gone
}

const againPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=NEXT">
<title>skein</title>
<p><a href="NEXT">Go on</a></p>
</html>
`

const inPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=NEXT">
<title>skein</title>
<p>You are logged in. <a href="NEXT">Go on</a></p>
</html>
`

// leave ends a login, also for who has a copy of the cookie.
func (d *Door) leave(w http.ResponseWriter, r *http.Request) {
	v := From(r.Context())
	if c, err := r.Cookie(v.CookieName(loginCookie)); err == nil {
		k, err := d.tokens.one(r.Context(), shownBy(c))
		if err == nil {
			err = d.tokens.EndLogins(r.Context(), k.login)
		}
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			Fail(w, r, err) // the cookie stays: it is still good
			return
		}
	}
	http.SetCookie(w, v.Cookie(loginCookie, "", 0))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
