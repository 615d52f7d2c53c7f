package web

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/imports"
	"github.com/skein-dev/skein/server/web/share"
	"github.com/skein-dev/skein/store/activity"
	"github.com/skein-dev/skein/store/inspect"
)

// Options are the settings of the dashboard. The zero value shows everything as
// it is, without costs.
type Options struct {
	Version string
	Now     func() time.Time                             // nil: [time.Now]
	Log     *slog.Logger                                 // of internal errors; nil: no log
	Secrets *redact.Redactor                             // masks secrets in what is shown; nil: they are shown
	Prices  func() (*price.List, error)                  // nil: no costs are shown
	Budgets func(context.Context) ([]price.Spent, error) // how much of the budgets is used; nil: there are none
	Agents  []string                                     // formats of the programs that a session can be handed off to

	Tokens    *door.Tokens                                  // for the logins and tokens on the page of settings; nil: it has none
	Settings  func(context.Context) ([]SettingTopic, error) // what the person who runs the server has set; nil: it is not shown
	Purged    func(skein.Session) error                     // removes what is kept of a purged session outside the store; may be nil
	Examiners []inspect.Examiner                            // examined by the health page besides the store
	FindFor   time.Duration                                 // how long messages of one session are ranked before the newest are shown; 0: 25 ms
	Listed    int                                           // how many sessions are counted before the list is sent; the facets of more come after it; 0: 20,000
	Probes    activity.Probes                               // where to look what sessions are doing besides the store
	Imports   *imports.Imports                              // of what is on this machine; nil: sessions cannot be imported in the browser
	Folders   bool                                          // the folders of the sessions are on this machine, which is the visitor's: what Git says of them is shown
	Live      live.Sockets                                  // where sessions that are open in editors are reached, to answer what their agents ask; zero: nowhere
	Shares    share.Links                                   // makes links that anybody can read; without Shares there are none
	Chat      *Turns                                        // lets agents answer in the browser; nil: they cannot
}

// Routes returns the routes of all pages, and of the files that they load.
func Routes(o Options) []door.Route {
	s := newSite(o)
	return slices.Concat(
		s.assets.routes(),
		offlinePages{s}.routes(),
		lists{s}.routes(),
		sessionPages{s}.routes(),
		outlines{s}.routes(),
		nowPages{s}.routes(),
		permissionPages{s}.routes(),
		forms{s}.routes(),
		downloader{s}.routes(),
		liveStreams{s}.routes(),
		searchPages{s}.routes(),
		treePages{s}.routes(),
		comparePages{s}.routes(),
		usagePages{s}.routes(),
		projectPages{s}.routes(),
		binPages{s}.routes(),
		healthPages{s}.routes(),
		chatPages{s}.routes(),
		importPages{s}.routes(),
		loginPages{s}.routes(),
		settingPages{s}.routes(),
		auditPages{s}.routes(),
		sharePages{s}.routes(),
	)
}

// navigation returns the links at the top of every page.
func navigation() []navLink {
	return []navLink{
		{"now", "Now", "/now"},
		{"sessions", "Sessions", "/"},
		{"projects", "Projects", "/projects"},
		{"search", "Search", "/search"},
	}
}

// loginForm is the data of the login page.
type loginForm struct {
	Wrong bool   // the login failed
	Code  string // of the link to this page: a button sends it
	Next  string // the page to go to after the login, as given
}

// Form returns the login page, for [door.Options]. It is made when first
// needed.
func Form(o Options) http.Handler {
	site := sync.OnceValue(func() *site { return newSite(o) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form := loginForm{Wrong: r.Method == http.MethodPost}
		if given := r.URL.Query(); r.URL.Path == "/login" && !form.Wrong {
			form.Code, form.Next = given.Get("code"), given.Get("next")
		}
		site().write(w, http.StatusUnauthorized, "login", layoutData{Title: "Log in", Data: form})
	})
}

// Refused returns the function that shows problems to people, for
// [door.Options]. Its page is made when first needed.
func Refused(o Options) func(http.ResponseWriter, *http.Request, door.Problem) {
	site := sync.OnceValue(func() *site { return newSite(o) })
	return func(w http.ResponseWriter, r *http.Request, p door.Problem) {
		site().problem(w, r, problemPage{Problem: p})
	}
}

// read returns a route that shows something.
func read(path string, h http.HandlerFunc) door.Route {
	return door.Route{Pattern: "GET " + path, Scope: door.Read, Page: true, Handler: packed(h)}
}

// packed compresses the pages and tables that h answers with, where the browser takes
// that. Some bytes of padding hide how long the compressed text is: a page has what its
// address says beside what nobody else may see.
func packed(h http.HandlerFunc) http.Handler {
	return packing()(h)
}

var packing = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	pack, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.ContentTypes([]string{"text/html", "text/csv"}), gzhttp.RandomJitter(64, 0, false))
	if err != nil {
		return func(h http.Handler) http.HandlerFunc { return h.ServeHTTP } // the options do not fit each other: pages go as they are
	}
	return pack
})

// maxForm is the longest form, in bytes.
const maxForm = 1 << 20

// change returns a route for a form.
func change(path string, h http.HandlerFunc) door.Route {
	return door.Route{
		Pattern: "POST " + path, Scope: door.Write, Page: true, Body: maxForm,
		Types: []string{"application/x-www-form-urlencoded"}, Handler: h,
	}
}

// viewLinks returns links to those views that the visitor may see.
func (p layoutData) viewLinks() (all []navLink) {
	if p.Chats && p.MayAdmin() {
		all = append(all, navLink{"chat", "Chat", "/chat"})
	}
	all = append(all, navLink{"usage", "Usage", "/usage"}, navLink{"bin", "Bin", "/bin"})
	if p.MayAdmin() {
		all = append(all, navLink{"health", "Health", "/health"})
	}
	return append(all, navLink{"settings", "Settings", "/settings"})
}
