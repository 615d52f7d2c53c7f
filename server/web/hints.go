package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein/server/door"
)

// A hint says once what a person can do, above the list of sessions.
type hint struct {
	Name string // in the cookie
	N    int    // its place among them, from 1
	Of   int
}

// hints returns the names of all hints, in order. Their texts are in sessions.html.
func hints() []string { return []string{"search", "watch", "continue"} }

const (
	hintsCookie = "skein_hints" // names those that the person has seen
	hintsFor    = 400 * 24 * time.Hour
)

func seenHints(r *http.Request) []string {
	c, err := r.Cookie(door.From(r.Context()).CookieName(hintsCookie))
	if err != nil {
		return nil
	}
	return strings.Split(c.Value, ".")
}

// hintFor returns the next hint that the visitor has not seen; nil if there is none. A
// browser forgets a cookie after 400 days, so it is given again.
func (s lists) hintFor(w http.ResponseWriter, r *http.Request) *hint {
	if !s.mayImport(door.From(r.Context())) {
		return nil
	}
	seen := seenHints(r)
	if len(seen) > 0 {
		keepHints(w, r, seen)
	}
	all := hints()
	for i, name := range all {
		if !slices.Contains(seen, name) {
			return &hint{name, i + 1, len(all)}
		}
	}
	return nil
}

func keepHints(w http.ResponseWriter, r *http.Request, seen []string) {
	known := slices.DeleteFunc(slices.Clone(hints()), func(name string) bool { return !slices.Contains(seen, name) })
	http.SetCookie(w, door.From(r.Context()).Cookie(hintsCookie, strings.Join(known, "."), hintsFor))
}

// closeHint closes a hint, or all of them, for good.
func closeHint(w http.ResponseWriter, r *http.Request) {
	seen := append(seenHints(r), r.PostFormValue("hint"))
	if r.PostFormValue("hint") == "all" {
		seen = hints()
	}
	keepHints(w, r, seen)
	back(w, r, local(r.PostFormValue("back"), "/"), "")
}
