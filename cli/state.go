package cli

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
)

// stateOf says what a person should know about s before continuing it: who works
// on it, and which calls have an unknown outcome; "" if there is nothing.
func stateOf(s *skein.Session) string {
	var all []string
	if s.LockedBy != "" {
		all = append(all, "in use by "+render.Line(s.LockedBy))
	}
	if s.Uncertain > 0 {
		all = append(all, count(s.Uncertain, "call")+" with unknown outcome")
	}
	if n := len(s.Open); n > 0 && s.LeftRunning() {
		all = append(all, count(n, "call")+" left running by a program that died")
	}
	if s.Damaged {
		all = append(all, "damaged: run skein doctor")
	}
	return strings.Join(all, "; ")
}
