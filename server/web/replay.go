package web

import (
	"net/http"

	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// replayRoutes are the routes of the player.
func (s *site) replayRoutes() []door.Route {
	return []door.Route{read("/sessions/{id}/replay", s.replay)}
}

// replay shows a session in a player: the page's script shows its messages one
// after the other, at the pace of skein replay. Without the script, it shows
// all of them.
func (s *site) replay(w http.ResponseWriter, r *http.Request) {
	one, ok := s.one(w, r)
	if !ok {
		return
	}
	t, err := s.window(r, one)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	t.Write = false
	s.show(w, r, "replay", page{Title: "Replay of " + one.Name(), At: "sessions", Class: "session", Data: &sessionPage{Transcript: t, Title: render.Line(t.Session.Name())}})
}
