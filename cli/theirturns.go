package cli

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/amplifier"
	"github.com/skein-dev/skein/render"
)

// theirTurns counts the turns of a session as the program does that it came
// from, where that is not what a person would. Amplifier begins one with each
// message in the user's name, also with those that its hooks put in.
type theirTurns struct {
	program string // "" for one that counts as we do
	turn    int
}

func turnsOf(s *skein.Session) (t theirTurns) {
	if s.Origin != nil && s.Origin.Format == amplifier.Name {
		t.program = "Amplifier"
	}
	return t
}

// take takes in the next message.
func (t *theirTurns) take(e *skein.Entry) {
	if t.program != "" && !e.Rewound && (e.Message.Role == skein.RoleUser || e.Message.Role == skein.RoleSteer) {
		t.turn++
	}
}

// say returns both counts in words, ours is n; "" where there is but one.
func (t *theirTurns) say(n int) string {
	if t.program == "" {
		return ""
	}
	return count(n, "turn") + "; " + t.program + " counts " + count(t.turn, "turn")
}

// theirEntry is a message with the turn that it is in as Amplifier counts.
type theirEntry struct {
	render.Entry
	Turn int `json:"amplifier_turn,omitempty"`
}
