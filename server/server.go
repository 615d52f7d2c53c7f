package server

import (
	"context"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/authorship"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/server/sse"
	"github.com/skein-dev/skein/store/activity"
)

// Options are the settings of the API.
type Options struct {
	Store   skein.Store // the store of all users: readers of a stream share one reader of it; nil: each reads by itself
	Version string
	Now     func() time.Time
	Formats []interop.Format            // that imports recognize, as importer.Import takes them
	Prices  func() (*price.List, error) // called when prices are needed; nil: no cost is known
	Redact  *redact.Redactor            // masks secrets in what people read; nil: nothing is masked

	// Probes are where to look what sessions are doing, if their source files are files
	// of this machine that the store's user has.
	Probes activity.Probes

	// Budgets returns how much of the budgets is used, for those who see the sessions of
	// all users; nil: there are none.
	Budgets func(context.Context) ([]price.Spent, error)

	// Files says that the projects of sessions are folders of this machine that the
	// store's user may read, so that Git can be asked about their files.
	Files bool

	// Purged removes what is kept of a purged session outside the store; may be
	// nil.
	Purged func(skein.User, skein.SessionID) error

	// Ready returns why the server cannot do its work now; nil: it always can.
	Ready func(context.Context) error
}

// Routes returns the routes of the API.
func Routes(o Options) []door.Route {
	a := &service{Options: o}
	t := openapi.New(o.Version, about, a.veiledSession)
	sessions, events, finds := sessionOps{a}, eventOps{a}, findOps{a}
	for _, add := range []func(*openapi.Table){
		sessions.lists, sessions.sessions, sessions.patches, sessions.branches, sessions.bins, sessions.trees, sessions.prunes, events.exports, events.imports,
		events.messages, events.events, events.appends, events.streams, events.blobs, sessions.leases, finds.searches, finds.usages, finds.nows, authorship.Operations{Redact: o.Redact, Here: o.Files}.Register, storeOps{a}.store,
	} {
		add(t)
	}
	besides(t)
	for _, tag := range tags() {
		t.Tag(tag[0], tag[1])
	}
	return append(t.Routes(), a.ready())
}

// tags returns the tags of the operations, and what those are about.
func tags() [][2]string {
	return [][2]string{
		{"sessions", "Lists, begins, changes, forks and deletes sessions."},
		{"messages", "What people and agents said, put together from events."},
		{"events", "The events of sessions, as they were written; appending and following them; import and export."},
		{"files", "What sessions did to files, and which session wrote a line."},
		{"leases", "The right to write to a session for a while."},
		{"search", "Searches what was said in all sessions."},
		{"usage", "How many tokens were used, and what they cost."},
		{"inbox", "Messages that chat services send to agents."},
		{"server", "Whether the server is ready, and what it measures."},
		{"store", "The methods of a store, one to one, for skein on another machine."},
	}
}

const about = `The sessions of a skein store: what people and agents said, as events that are only ever appended.

Every request needs a token: Authorization: Bearer TOKEN. Errors are problems as in RFC 9457; code says which error it is, and each status has one meaning. Lists come in pages: pass next_cursor as cursor. Times are in UTC, such as 2026-11-21T04:36:00.123Z, and empty if unknown. Another user's sessions are not found.`

// service is what all operations share.
type service struct {
	Options
	hubs      sse.Hubs
	overtaken queues
}

type (
	sessionOps struct{ *service } // operations on sessions: list, begin, change, fork, delete, lease
	eventOps   struct{ *service } // what is said in sessions: append, read, follow, import, export
	findOps    struct{ *service } // search and usage
	storeOps   struct{ *service } // the methods of a [skein.Store], one to one
)

// prices returns what models cost; nil if that is not known.
func (a *service) prices() (*price.List, error) {
	if a.Prices == nil {
		return nil, nil
	}
	return a.Prices()
}

// ready is the route that says whether the server can do its work now. It says
// nothing else, because it needs no token.
func (a *service) ready() door.Route {
	return door.Route{Pattern: "GET /readyz", Scope: door.Open, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Ready != nil {
			if err := a.Ready(r.Context()); err != nil {
				door.Note(r.Context(), err)
				w.Header().Set("Retry-After", "1")
				door.Refuse(w, r, http.StatusServiceUnavailable, "not_ready", "the store does not answer; the log says why")
				return
			}
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Write([]byte("ok\n")) //nolint:errcheck // the client has gone
	})}
}
