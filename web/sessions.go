package web

import (
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
)

// pageSize is how many sessions a page of the list has.
const pageSize = 50

// sessionsRoutes are those of the list of all sessions.
func (s *site) sessionsRoutes() []door.Route {
	return []door.Route{
		read("/{$}", s.sessions),
	}
}

// sessions shows the list.
func (s *site) sessions(w http.ResponseWriter, r *http.Request) {
	var found []skein.Session
	for one, err := range door.From(r.Context()).Store.Sessions(r.Context(), skein.Filter{NoChildren: true, Limit: pageSize}) {
		if err != nil {
			s.fail(w, r, err)
			return
		}
		found = append(found, one)
	}
	s.show(w, r, "sessions", page{Title: "Sessions", At: "sessions", Data: found})
}
