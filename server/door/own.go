package door

import (
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

// own returns the door's own routes: the health check, login and logout.
func (d *Door) own() []Route {
	l, form := loginRoutes{d}, []string{"application/x-www-form-urlencoded"}
	return []Route{
		{Pattern: "GET /healthz", Scope: Open, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Write([]byte("ok\n")) //nolint:errcheck // the client has gone
		})},
		{Pattern: "POST /v1/login-codes", Scope: Read, Handler: http.HandlerFunc(l.newCode)},
		{Pattern: "GET /login", Scope: Open, Page: true, Handler: http.HandlerFunc(l.form)},
		{Pattern: "POST /login", Scope: Open, Page: true, Body: 64 << 10, Types: form, Handler: http.HandlerFunc(l.logIn)},
		{Pattern: "POST /logout", Scope: Open, Page: true, Body: 64 << 10, Types: form, Handler: http.HandlerFunc(l.leave)},
	}
}

// Code returns a code that logs one browser in with the first token, and false
// if too many codes are unused. The page /login?code=CODE has a button that
// sends it.
func (d *Door) Code() (string, bool) { return d.codes.make(First, d.now()) }

// loginRoutes log browsers in and out.
type loginRoutes struct{ *Door }

// newCode answers with a code for the token of the request. A login is not
// enough: with a code for the next login, it would never end.
func (l loginRoutes) newCode(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		Refuse(w, r, http.StatusForbidden, "login", "codes are made for requests with a token, not with a login")
		return
	}
	c, ok := l.codes.make(From(r.Context()).Token, l.now())
	if !ok {
		Refuse(w, r, http.StatusTooManyRequests, "codes", "too many unused codes: use one, or wait until they expire")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	w.Write(skein.MustJSON(struct { //nolint:errcheck // the client has gone
		Code string `json:"code"`
		Path string `json:"path"`
	}{c, "/login?code=" + url.QueryEscape(c)}))
}

// form shows the login page. With a code in its address, the page has a button
// that sends the code: link previews in mail and chat programs follow links,
// and other sites can lead a browser to one, so a GET neither uses up a code
// nor logs in.
func (l loginRoutes) form(w http.ResponseWriter, r *http.Request) {
	l.stranger(w, r, Route{Page: true}, false)
}

// logIn logs a browser in with the code of a link, or with the token that a
// person typed.
func (l loginRoutes) logIn(w http.ResponseWriter, r *http.Request) {
	name, err := l.named(r)
	if err != nil {
		l.unknown(w, r, Route{Page: true}, true, err)
		return
	}
	l.asNamed(w, r, name)
}

// named returns the name of the token that a login form contains, or has a code
// for. The errors are those of [Tokens.Find].
func (l loginRoutes) named(r *http.Request) (string, error) {
	if c := r.PostFormValue("code"); c != "" {
		name, ok := l.codes.use(c, l.now())
		if !ok {
			return "", fmt.Errorf("code: %w", skein.ErrNotFound)
		}
		return name, nil
	}
	found, err := l.tokens.Find(r.Context(), strings.TrimSpace(r.PostFormValue("token")))
	return found.Name, err
}

// asNamed logs a browser in with the token of that name: it stores the login,
// sets the cookie, and redirects to the page that the form names.
func (l loginRoutes) asNamed(w http.ResponseWriter, r *http.Request, name string) {
	token, book, err := l.tokens.named(r.Context(), name)
	if err != nil {
		l.unknown(w, r, Route{Page: true}, true, err)
		return
	}
	now := skein.At(l.now())
	ends := skein.At(l.now().Add(loginFor))
	c := From(r.Context()).Cookie(loginCookie, rand.Text(), loginFor)
	err = book.AddLogin(r.Context(), accounts.Login{
		ID: strings.ToLower(rand.Text()[:8]), Hash: shownBy(c).hash, Access: accounts.Access{Name: token.Name},
		Device: device(r.UserAgent()), Address: address(r), Created: now, Used: now, Expires: ends,
	})
	if errors.Is(err, skein.ErrReadOnly) {
		Refuse(w, r, http.StatusServiceUnavailable, "read_only", "the store is read-only, so a login cannot be kept: log in at a server that writes to it; "+
			"if both have one host name, you are logged in here, too")
		return
	}
	if err != nil {
		l.unknown(w, r, Route{Page: true}, true, err)
		return
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, local(r.PostFormValue("next")), http.StatusSeeOther)
}

// local returns path if it is on this site, and otherwise the path of the first
// page.
func local(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\\r\n") {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// arrives reports whether a request is a navigation from another site, or a
// reload of one: the browser does not send a strict cookie then.
func arrives(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Method == http.MethodGet && (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// comeAgain answers with a page that redirects to itself: the request then
// comes from a page of this site, so the browser sends the cookie, if it has
// one.
func (l loginRoutes) comeAgain(w http.ResponseWriter, r *http.Request) {
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

// forgetPages makes the browser remove the pages that it keeps, to ask whether they are
// still the same.
func forgetPages(w http.ResponseWriter) { w.Header().Set("Clear-Site-Data", `"cache"`) }

// leave ends a login, including for anybody with a copy of the cookie.
func (l loginRoutes) leave(w http.ResponseWriter, r *http.Request) {
	v := From(r.Context())
	if c, err := r.Cookie(v.CookieName(loginCookie)); err == nil {
		k, err := l.tokens.one(r.Context(), shownBy(c))
		if err == nil {
			err = l.tokens.EndLogins(r.Context(), k.login)
		}
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			Fail(w, r, err) // keep the cookie: it is still valid
			return
		}
	}
	http.SetCookie(w, v.Cookie(loginCookie, "", 0))
	forgetPages(w)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}
