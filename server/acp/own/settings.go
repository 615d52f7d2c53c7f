package own

import (
	"context"
	"fmt"
	"slices"

	"github.com/skein-dev/skein/server/acp/stored"
)

// settings returns what a person can choose, as members of an answer. Modes stand there
// twice, for editors that know only one of both ways.
func (s *session) settings(ctx context.Context) (map[string]any, error) {
	all, err := s.thread.Settings(ctx)
	if err != nil {
		return nil, err
	}
	r := map[string]any{"configOptions": all}
	for _, o := range all {
		if o.ID != "mode" {
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

// offer shows which commands there are.
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
}

// setMode is session/set_mode.
func (s *session) setMode(ctx context.Context, mode string) (any, func(), error) {
	if err := s.set(ctx, "mode", mode); err != nil {
		return nil, nil, err
	}
	return struct{}{}, func() { s.chosen(ctx) }, nil
}

// setOption is session/set_config_option.
func (s *session) setOption(ctx context.Context, p *requestParams) (any, func(), error) {
	value, ok := p.Value.(string)
	if !ok {
		return nil, nil, &codedError{stored.InvalidParams, fmt.Sprintf("value %v: want a text", p.Value)}
	}
	if err := s.set(ctx, p.ConfigID, value); err != nil {
		return nil, nil, err
	}
	all, err := s.thread.Settings(ctx)
	if err != nil {
		return nil, nil, err
	}
	var then func()
	if p.ConfigID == "mode" {
		then = func() { s.say("current_mode_update", map[string]any{"currentModeId": value}) }
	}
	return map[string]any{"configOptions": all}, then, nil
}

// set chooses a value that is offered.
func (s *session) set(ctx context.Context, id, value string) error {
	all, err := s.thread.Settings(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(o SessionOption) bool { return o.ID == id })
	if i < 0 {
		return &codedError{stored.InvalidParams, fmt.Sprintf("there is no option %q", id)}
	}
	if !slices.ContainsFunc(all[i].Values, func(c OptionValue) bool { return c.Value == value }) {
		return &codedError{stored.InvalidParams, fmt.Sprintf("%s %q is not offered", id, value)}
	}
	return s.thread.Set(ctx, id, value)
}

// chosen shows what is chosen now.
func (s *session) chosen(ctx context.Context) {
	if all, err := s.thread.Settings(ctx); err == nil { // else the editor shows what it knows
		s.say("config_option_update", map[string]any{"configOptions": all})
	}
}
