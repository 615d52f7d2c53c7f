package web

import (
	"slices"

	"github.com/skein-dev/skein/server/door"
)

// viewRoutes are the routes of the other views of sessions.
func (s *site) viewRoutes() []door.Route {
	return slices.Concat(
		s.treeRoutes(),
		s.usageRoutes(),
		s.binRoutes(),
		s.healthRoutes(),
		s.appRoutes(),
		s.liveRoutes(),
		s.replayRoutes(),
		s.chatRoutes(),
		s.loginRoutes(),
	)
}

// viewLinks returns links to those views that the visitor may see.
func (p page) viewLinks() (all []link) {
	if p.Chats && p.MayAdmin() {
		all = append(all, link{"chat", "Chat", "/chat"})
	}
	all = append(all, link{"usage", "Usage", "/usage"}, link{"bin", "Bin", "/bin"})
	if p.MayAdmin() {
		all = append(all, link{"health", "Health", "/health"})
	}
	if p.Logins {
		all = append(all, link{"logins", "Logins", "/logins"})
	}
	return all
}
