package web

import (
	"net/http"
	"net/url"
	"time"

	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// noticeCookie carries the result of a form to the next page.
const noticeCookie = "skein_notice"

const (
	maxNotice = 300 // bytes
	noticeFor = time.Minute
)

// back answers a form: the next page, at path, shows what was done.
func back(w http.ResponseWriter, r *http.Request, path, done string) {
	if done != "" {
		http.SetCookie(w, door.From(r.Context()).Cookie(noticeCookie, url.QueryEscape(render.Clip(done, maxNotice)), noticeFor))
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
}

// notice returns the result of the last form, once.
func notice(w http.ResponseWriter, r *http.Request) string {
	v := door.From(r.Context())
	c, err := r.Cookie(v.CookieName(noticeCookie))
	if err != nil {
		return ""
	}
	http.SetCookie(w, v.Cookie(noticeCookie, "", 0))
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	return render.Clip(text, maxNotice)
}

// local returns path if it leads to a page of this server, and otherwise other:
// a form may say which page to go back to, but nowhere else.
func local(path, other string) string {
	u, err := url.Parse(path)
	if err != nil || u.IsAbs() || u.Host != "" || len(path) == 0 || path[0] != '/' || len(path) > 1 && (path[1] == '/' || path[1] == '\\') {
		return other
	}
	return path
}
