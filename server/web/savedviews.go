package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein/server/door"
)

// A savedView is a filter of the list that a browser keeps under a name.
type savedView struct{ Name, Query string }

// Path returns the path of the list with the view's filter.
func (v savedView) Path() string { return "/?" + v.Query }

const (
	viewsCookie = "skein_views"
	mostViews   = 12
	viewsFor    = 400 * 24 * time.Hour // as long as browsers keep a cookie
)

// viewsOf returns the views that the visitor's browser keeps.
func viewsOf(r *http.Request) (all []savedView) {
	c, err := r.Cookie(door.From(r.Context()).CookieName(viewsCookie))
	if err != nil {
		return nil
	}
	for _, part := range strings.Split(c.Value, "&") {
		name, query, _ := strings.Cut(part, "=")
		n, err1 := url.QueryUnescape(name)
		q, err2 := url.QueryUnescape(query)
		if err1 == nil && err2 == nil && n != "" && len(all) < mostViews {
			all = append(all, savedView{n, q})
		}
	}
	return all
}

// keepView saves a view, or removes one.
func (s lists) keepView(w http.ResponseWriter, r *http.Request) {
	name, to := strings.TrimSpace(r.PostFormValue("name")), local(r.PostFormValue("back"), "/")
	query, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil || name == "" || len(name) > 40 || len(query.Encode()) > 500 {
		back(w, r, to, "Give the view a name of at most 40 letters.")
		return
	}
	remove := r.PostFormValue("do") == "remove"
	all := slices.DeleteFunc(viewsOf(r), func(v savedView) bool { return v.Name == name })
	done := "Removed the view " + name + "."
	if !remove {
		if len(all) >= mostViews {
			back(w, r, to, fmt.Sprintf("There are %d saved views already. Remove one first.", mostViews))
			return
		}
		all, done = append(all, savedView{name, query.Encode()}), "Saved the view "+name+" in this browser."
	}
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = url.QueryEscape(v.Name) + "=" + url.QueryEscape(v.Query)
	}
	lives := viewsFor
	if len(all) == 0 {
		lives = 0
	}
	http.SetCookie(w, door.From(r.Context()).Cookie(viewsCookie, strings.Join(parts, "&"), lives))
	back(w, r, to, done)
}
