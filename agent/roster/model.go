package roster

import (
	"context"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/echo"
	"github.com/skein-dev/skein/llm/replay"
)

// A ModelError says that no model has a given name. It wraps [llm.ErrModel].
type ModelError struct {
	Name  string
	Why   string
	Known []string // what can be used instead
	Do    string   // what to do next; "" if Why says it
}

// Error implements error.
func (e *ModelError) Error() string {
	s := fmt.Sprintf("model %q: %s", e.Name, e.Why)
	if len(e.Known) > 0 {
		s += "; want one of " + strings.Join(e.Known, ", ")
	}
	return s
}

// Unwrap returns [llm.ErrModel].
func (e *ModelError) Unwrap() error { return llm.ErrModel }

// Model returns the model of this name: PROVIDER:MODEL, echo, or
// replay:SESSION.
//
// The error is a *[ModelError], a *[llm.NoKeyError], or says why a session
// cannot be replayed.
func (r *Roster) Model(ctx context.Context, name string) (_ llm.Provider, err error) {
	provider, model, ok := strings.Cut(name, ":")
	switch {
	case name == "echo":
		return echo.New(echo.Options{}), nil
	case name == "":
		return nil, &ModelError{Name: name, Why: "no name is given", Known: r.examples()}
	case provider == "replay":
		return r.replay(ctx, model)
	}
	p, there := r.Provider(provider)
	switch {
	case !there && !ok:
		return nil, &ModelError{Name: name, Why: "it names no provider" + guess(name), Known: r.examples()}
	case !there:
		return nil, &ModelError{Name: name, Why: fmt.Sprintf("there is no provider %q", provider), Known: r.examples()}
	case model == "":
		return nil, &ModelError{Name: name, Why: fmt.Sprintf("which model of %s? want %[1]s:MODEL", provider)}
	case p.BaseURL == "" && p.NotEnv != "" && r.Getenv(p.NotEnv) != "": // requests meant for another service must not go to the vendor
		return nil, &ModelError{
			Name: name, Why: fmt.Sprintf("skein cannot use the API at %s=%s", p.NotEnv, r.Getenv(p.NotEnv)),
			Do: fmt.Sprintf("unset %s, or set %s to an API that is compatible with OpenAI's", p.NotEnv, p.BaseEnv),
		}
	}
	key, err := r.key(provider, p)
	if err != nil {
		return nil, err
	}
	return r.reach(provider, model, key, p)
}

// examples returns examples of model names.
func (r *Roster) examples() []string {
	var all []string
	for _, p := range r.Providers() {
		all = append(all, p+":MODEL")
	}
	return append(all, "replay:SESSION", "echo")
}

// guess returns a suggestion for a well-known model named without its provider.
func guess(model string) string {
	for _, of := range [][2]string{{"claude", "anthropic"}, {"gpt", "openai"}, {"o1", "openai"}, {"o3", "openai"}, {"o4", "openai"}, {"gemini", "google"}, {"grok", "xai"}} {
		if strings.HasPrefix(model, of[0]) {
			return fmt.Sprintf(", such as %s:%s", of[1], model)
		}
	}
	return ""
}

// key returns the key of a provider; "" if it needs none and has none.
func (r *Roster) key(name string, p Provider) (string, error) {
	key, _, err := r.lookUp(name, p)
	if err == nil && key == "" && !p.Keyless {
		err = &llm.NoKeyError{Provider: name, Variables: p.KeyEnv}
	}
	return key, err
}

// lookUp returns the key of a provider and its origin: the environment, else
// the system's key ring, which is not searched for providers that need no key.
func (r *Roster) lookUp(name string, p Provider) (key, from string, err error) {
	for _, v := range p.KeyEnv {
		if key := strings.TrimSpace(r.Getenv(v)); key != "" {
			return key, "$" + v, nil
		}
	}
	if r.Secret == nil || p.Keyless {
		return "", "", nil
	}
	if key, err = r.Secret(name); err != nil {
		return "", "", fmt.Errorf("key ring: key of %s: %w", name, err)
	}
	return key, "key ring", nil
}

// KeyFrom says where the key of a provider comes from: $VARIABLE, "key ring",
// "not needed", or "" if it has none. Errors are the key ring's.
func (r *Roster) KeyFrom(name string) (string, error) {
	p, _ := r.Provider(name)
	key, from, err := r.lookUp(name, p)
	switch {
	case err != nil || key != "":
		return from, err
	case p.Keyless:
		return "not needed", nil
	}
	return "", nil
}

// replay returns the model that repeats the answers of a session.
func (r *Roster) replay(ctx context.Context, name string) (llm.Provider, error) {
	if r.Find == nil || r.Store == nil {
		return nil, &ModelError{Name: "replay:" + name, Why: "no sessions can be replayed here"}
	}
	if name == "" {
		return nil, &ModelError{Name: "replay:", Why: "which session? want replay:NAME"}
	}
	s, err := r.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	var f skein.EntryBuilder
	for e, err := range r.Store.Events(ctx, s.ID, 0) {
		if err == nil {
			err = f.Add(e)
		}
		if err != nil {
			return nil, fmt.Errorf("replay %s: %w", s.ID, err)
		}
	}
	return replay.New(s.ID, f.Entries(), replay.Options{}), nil
}
