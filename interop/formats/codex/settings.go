package codex

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// settings are what a thread's next request is made with.
type settings struct {
	*thread

	model   string
	cwd     string
	context string // newest turn_context, unchanged
}

// turn reads a turn_context: the settings of a turn. One that repeats the last makes
// no event.
func (s *settings) turn(l line) interop.Made {
	c, err := unmarshal[turnContext](l.Payload)
	if err != nil {
		return s.odd(l, err)
	}
	s.place.turn = turnID(c.TurnID, s.place.turn)
	now := short(string(l.Payload))
	if now == s.context {
		return interop.Made{}
	}
	s.context = now
	var set skein.Changed
	if c.Model != "" && c.Model != s.model {
		s.model, set.Model = c.Model, &c.Model
	}
	if c.Cwd != "" && c.Cwd != s.cwd {
		s.cwd, set.Cwd = c.Cwd, &c.Cwd
	}
	if set.Model == nil && set.Cwd == nil {
		return s.note(l)
	}
	noted := skein.NewEvent(skein.KindNoted, l.Time, skein.Noted{Name: noteName(l), Data: skeinRaw(l.Payload)})
	made := s.make(l, skein.NewEvent(skein.KindChanged, l.Time, set), noted)
	made.Floating = true
	return made
}

// cwdFrom returns an event that sets the directory, which the first generation's meta
// lacks.
func (s *settings) cwdFrom(l line, m *skein.Message) []skein.Event {
	if s.own != nil && !s.bare || s.cwd != "" || !m.Synthetic {
		return nil
	}
	for _, p := range m.Parts {
		if cwd := contextCwd(p.Text); cwd != "" {
			s.cwd = cwd
			return []skein.Event{skein.NewEvent(skein.KindChanged, l.Time, skein.Changed{Cwd: &cwd, Project: &cwd})}
		}
	}
	return nil
}
