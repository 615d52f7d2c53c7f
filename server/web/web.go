package web

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/inspect"
)

// Options are what the dashboard is made of. The zero value shows everything as
// it is, without costs.
type Options struct {
	Version string
	Now     func() time.Time            // nil: [time.Now]
	Log     *slog.Logger                // of what fails inside; nil: nothing
	Secrets *redact.Redactor            // takes them out of what is shown; nil: leaves them in
	Prices  func() (*price.List, error) // nil: costs are not shown
	Agents  []string                    // formats of other programs that a session can be handed to

	Tokens    *door.Tokens              // whose logins are listed and ended; nil: there is no such page
	Purged    func(skein.Session) error // removes what else is kept of a session that was deleted for good; may be nil
	Examiners []inspect.Examiner        // what Health looks at besides the store
	FindFor   time.Duration             // how long messages of one session are ranked, before the newest are shown; 0: 25 ms
	Chat      *Chat                     // lets agents answer in the page; nil: they do not
}

// Routes returns the routes of all pages, and of what they load.
func Routes(o Options) []door.Route {
	s := newSite(o)
	return slices.Concat(
		s.assetRoutes(),
		s.sessionsRoutes(),
		s.sessionRoutes(),
		s.searchRoutes(),
		s.viewRoutes(),
	)
}

// navigation is what the bar on top of every page leads to.
func navigation() []link {
	return []link{
		{"sessions", "Sessions", "/"},
		{"search", "Search", "/search"},
	}
}

// loginForm is what the page to log in shows.
type loginForm struct {
	Wrong bool   // what was sent did not log in
	Code  string // of the link that was followed: a button sends it
	Next  string // page that the link leads to, as it was given
}

// Form returns the page to log in, for [door.Options]. It is made when it is
// first needed.
func Form(o Options) http.Handler {
	site := sync.OnceValue(func() *site { return newSite(o) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form := loginForm{Wrong: r.Method == http.MethodPost}
		if given := r.URL.Query(); r.URL.Path == "/login" && !form.Wrong {
			form.Code, form.Next = given.Get("code"), given.Get("next")
		}
		site().write(w, http.StatusUnauthorized, "login", page{Title: "Log in", Data: form})
	})
}

// Refused returns what shows a problem to people, for [door.Options]. It is made
// when it is first needed.
func Refused(o Options) func(http.ResponseWriter, *http.Request, door.Problem) {
	site := sync.OnceValue(func() *site { return newSite(o) })
	return func(w http.ResponseWriter, r *http.Request, p door.Problem) {
		site().write(w, p.Status, "error", page{Title: p.Title, Data: p, Visitor: door.From(r.Context())})
	}
}

// read is a route that shows something.
func read(path string, h http.HandlerFunc) door.Route {
	return door.Route{Pattern: "GET " + path, Scope: door.Read, Page: true, Handler: h}
}

// maxForm is how long a form may be, in bytes.
const maxForm = 1 << 20

// change is a route that a form is sent to.
func change(path string, h http.HandlerFunc) door.Route {
	return door.Route{
		Pattern: "POST " + path, Scope: door.Write, Page: true, Body: maxForm,
		Types: []string{"application/x-www-form-urlencoded"}, Handler: h,
	}
}
