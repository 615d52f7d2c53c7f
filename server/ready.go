package server

import (
	"net/http"

	"github.com/skein-dev/skein/server/door"
)

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
