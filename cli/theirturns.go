package cli

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/render"
)

// theirTurns counts the turns of a session in the way of the program that it came
// from, where that differs from ours. Amplifier begins a turn with each message in
// the user's name, including those that its hooks insert.
type theirTurns struct {
	program string // "" for one that counts as skein does
	turn    int
}

func turnsOf(s *skein.Session) (t theirTurns) {
	if s.Origin != nil && s.Origin.Format == amplifier.Name {
		t.program = "Amplifier"
	}
	return t
}

// take counts the next message.
func (t *theirTurns) take(e *skein.Entry) {
	if t.program != "" && !e.Rewound && (e.Message.Role == skein.RoleUser || e.Message.Role == skein.RoleSteer) {
		t.turn++
	}
}

// say returns both counts in words, n is ours; "" if the program counts as skein does.
func (t *theirTurns) say(n int) string {
	if t.program == "" {
		return ""
	}
	return count(n, "turn") + "; " + t.program + " counts " + count(t.turn, "turn")
}

// theirEntry is a message with its turn as Amplifier counts.
type theirEntry struct {
	render.Entry
	Turn int `json:"amplifier_turn,omitempty"`
}
