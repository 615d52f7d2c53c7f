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

// A savedView is a filter of the list, or a search, that a browser keeps under a name.
type savedView struct{ Name, Query string }

// Path returns the path of the list with the view's filter.
func (v savedView) Path() string { return "/?" + v.Query }

// Search returns the path of the search.
func (v savedView) Search() string { return "/search?" + url.Values{"q": {v.Query}}.Encode() }

// A cookieShelf is the cookie in which a browser keeps views.
type cookieShelf string

// The shelves.
const (
	viewShelf   cookieShelf = "skein_views"
	searchShelf cookieShelf = "skein_searches"
	recentShelf cookieShelf = "skein_recent"
)

const (
	mostKept   = 12                   // views on a shelf
	mostRecent = 8                    // searches that are remembered by themselves
	maxKept    = 200                  // bytes of such a search
	viewsFor   = 400 * 24 * time.Hour // as long as browsers keep a cookie
)

// views returns what the visitor's browser keeps.
func (k cookieShelf) views(r *http.Request) (all []savedView) {
	c, err := r.Cookie(door.From(r.Context()).CookieName(string(k)))
	if err != nil {
		return nil
	}
	for _, part := range strings.Split(c.Value, "&") {
		name, query, _ := strings.Cut(part, "=")
		n, err1 := url.QueryUnescape(name)
		q, err2 := url.QueryUnescape(query)
		if err1 == nil && err2 == nil && n != "" && len(all) < mostKept {
			all = append(all, savedView{n, q})
		}
	}
	return all
}

// keep lets the visitor's browser keep these.
func (k cookieShelf) keep(w http.ResponseWriter, r *http.Request, all []savedView) {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = url.QueryEscape(v.Name) + "=" + url.QueryEscape(v.Query)
	}
	lives := viewsFor
	if len(all) == 0 {
		lives = 0
	}
	http.SetCookie(w, door.From(r.Context()).Cookie(string(k), strings.Join(parts, "&"), lives))
}

// without returns what the browser keeps, without those of a name.
func (k cookieShelf) without(r *http.Request, name string) []savedView {
	return slices.DeleteFunc(k.views(r), func(v savedView) bool { return v.Name == name })
}

// keepView saves a view, or removes one.
func (s lists) keepView(w http.ResponseWriter, r *http.Request) {
	name, to := strings.TrimSpace(r.PostFormValue("name")), local(r.PostFormValue("back"), "/")
	query, err := url.ParseQuery(r.PostFormValue("query"))
	if err != nil || name == "" || len(name) > 40 || len(query.Encode()) > 500 {
		back(w, r, to, "Give the view a name of at most 40 letters.")
		return
	}
	all, done := viewShelf.without(r, name), "Removed the view "+name+"."
	if r.PostFormValue("do") != "remove" {
		if len(all) >= mostKept {
			back(w, r, to, fmt.Sprintf("There are %d saved views already. Remove one first.", mostKept))
			return
		}
		all, done = append(all, savedView{name, query.Encode()}), "Saved the view "+name+" in this browser."
	}
	viewShelf.keep(w, r, all)
	back(w, r, to, done)
}

// keepSearch saves a search, removes a saved one, or forgets the recent ones.
func (s searchPages) keepSearch(w http.ResponseWriter, r *http.Request) {
	text, to := strings.TrimSpace(r.PostFormValue("q")), local(r.PostFormValue("back"), "/search")
	switch do := r.PostFormValue("do"); {
	case do == "forget":
		recentShelf.keep(w, r, nil)
		back(w, r, to, "Forgot the recent searches.")
	case do == "remove":
		searchShelf.keep(w, r, searchShelf.without(r, text))
		back(w, r, to, "Removed the search.")
	case text == "" || len(text) > maxKept:
		back(w, r, to, fmt.Sprintf("A search of at most %d letters can be saved.", maxKept))
	default:
		all := searchShelf.without(r, text)
		if len(all) >= mostKept {
			back(w, r, to, fmt.Sprintf("There are %d saved searches already. Remove one first.", mostKept))
			return
		}
		searchShelf.keep(w, r, append(all, savedView{text, text}))
		back(w, r, to, "Saved the search in this browser.")
	}
}

// remember lets the visitor's browser keep a search as the most recent one.
func (s searchPages) remember(w http.ResponseWriter, r *http.Request, text string) {
	if text == "" || len(text) > maxKept || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		return
	}
	all := append([]savedView{{text, text}}, recentShelf.without(r, text)...)
	recentShelf.keep(w, r, all[:min(len(all), mostRecent)])
}
