package web

import (
	"slices"

	"github.com/skein-dev/skein/door"
)

// viewRoutes are those of the other views of sessions.
func (s *site) viewRoutes() []door.Route {
	return slices.Concat(
		s.usageRoutes(),
	)
}

// viewLinks lead to them.
func viewLinks() []link {
	return []link{
		{"usage", "Usage", "/usage"},
	}
}
