package own

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein/server/acp/stored"
)

// modeID is the ID of the option that is the mode.
const modeID = "mode"

// options returns what a person can choose.
func (s *session) options(ctx context.Context) ([]SessionOption, error) {
	all, err := s.thread.Settings(ctx)
	if err == nil {
		s.choosing.Lock()
		s.choices = all
		s.choosing.Unlock()
	}
	return all, err
}

// settings returns what a person can choose, as members of an answer. Modes stand there
// twice, for editors that know only one of both ways.
func (s *session) settings(ctx context.Context) (map[string]any, error) {
	all, err := s.options(ctx)
	if err != nil {
		return nil, err
	}
	r := map[string]any{"configOptions": all}
	for _, o := range all {
		if o.ID != modeID {
			continue
		}
		modes := []any{}
		for _, m := range o.Values {
			modes = append(modes, map[string]any{"id": m.Value, "name": m.Name, "description": m.Doc})
		}
		r["modes"] = map[string]any{"currentModeId": o.Value, "availableModes": modes}
	}
	return r, nil
}

// offer shows which commands there are, and what there was to say before.
func (s *session) offer() {
	all := []any{}
	for _, c := range s.thread.Commands() {
		one := map[string]any{"name": c.Name, "description": c.Doc}
		if c.Args != "" {
			one["input"] = map[string]any{"hint": c.Args}
		}
		all = append(all, one)
	}
	s.say("available_commands_update", map[string]any{"availableCommands": all})
	s.tellNotes()
}

// chooseMode answers a request for another mode. Whether tools ask first is decided by it
// at once, even during a turn; what else it changes follows that turn.
func (s *session) chooseMode(m *message, value any) {
	mode, _ := value.(string) //nolint:errcheck // other values are not offered
	all, err := s.withMode(mode)
	if err != nil {
		s.c.refuse(m.ID, err)
		return
	}
	s.thread.Heed(mode)
	s.c.work.Go(func() {
		if m.Method == "session/set_mode" {
			s.c.reply(m.ID, struct{}{}, nil)
			s.say("config_option_update", map[string]any{"configOptions": all})
			return
		}
		s.c.reply(m.ID, map[string]any{"configOptions": all}, nil)
		s.say("current_mode_update", map[string]any{"currentModeId": mode})
	})
	s.c.after(s.id, func() {
		if err := s.thread.Set(s.c.ctx, modeID, mode); err != nil && s.c.session(s.id) == s {
			s.note("warning", s.c.o.Explain(err))
		}
	})
}

// withMode returns what a person can choose, with this mode chosen.
func (s *session) withMode(mode string) ([]SessionOption, error) {
	s.choosing.Lock()
	defer s.choosing.Unlock()
	if err := offers(s.choices, modeID, mode); err != nil {
		return nil, err
	}
	s.choices = slices.Clone(s.choices)
	for i := range s.choices {
		if s.choices[i].ID == modeID {
			s.choices[i].Value = mode
		}
	}
	return s.choices, nil
}

// setOption is session/set_config_option.
func (s *session) setOption(ctx context.Context, p *requestParams) (any, func(), error) {
	value, ok := p.Value.(string)
	if !ok {
		return nil, nil, &codedError{stored.InvalidParams, fmt.Sprintf("value %v: want a text", p.Value)}
	}
	all, err := s.options(ctx)
	if err == nil {
		err = offers(all, p.ConfigID, value)
	}
	if err == nil {
		err = s.thread.Set(ctx, p.ConfigID, value)
	}
	if err == nil {
		all, err = s.options(ctx)
	}
	return map[string]any{"configOptions": all}, nil, err
}

// offers returns an error if a value is not among those that can be chosen.
func offers(all []SessionOption, id, value string) error {
	i := slices.IndexFunc(all, func(o SessionOption) bool { return o.ID == id })
	if i < 0 {
		return &codedError{stored.InvalidParams, fmt.Sprintf("there is no option %q", id)}
	}
	if !slices.ContainsFunc(all[i].Values, func(c OptionValue) bool { return c.Value == value }) {
		return &codedError{stored.InvalidParams, fmt.Sprintf("%s %q is not offered", id, value)}
	}
	return nil
}

// chosen shows what is chosen now.
func (s *session) chosen(ctx context.Context) {
	if all, err := s.options(ctx); err == nil { // else the editor shows what it knows
		s.say("config_option_update", map[string]any{"configOptions": all})
	}
}
