package web

import (
	"slices"

	"github.com/skein-dev/skein/door"
)

// viewRoutes are those of the other views of sessions.
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
	)
}

// viewLinks lead to them.
func viewLinks() []link {
	return []link{
		{"usage", "Usage", "/usage"},
		{"bin", "Bin", "/bin"},
		{"health", "Health", "/health"},
	}
}
