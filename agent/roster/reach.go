package roster

import (
	"fmt"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/anthropic"
	"github.com/skein-dev/skein/llm/google"
	"github.com/skein-dev/skein/llm/openai"
)

// reach returns a model of the provider p.
func (r *Roster) reach(provider, model, key string, p Provider) (llm.Provider, error) {
	o := llm.Options{Key: key, Keyless: p.Keyless, BaseURL: p.BaseURL, Model: model, Name: provider, Effort: r.Effort, Client: r.Client}
	switch p.API {
	case Anthropic:
		return anthropic.New(o)
	case Responses:
		return openai.New(o)
	case Google:
		return google.New(o)
	case Chat, "":
		if p.BaseURL == "" {
			return nil, &ModelError{Name: provider + ":" + model, Why: fmt.Sprintf("provider %q has no base_url", provider)}
		}
		return openai.NewChat(provider, o)
	}
	return nil, &ModelError{Name: provider + ":" + model, Why: fmt.Sprintf("provider %q speaks %q, want one of %v", provider, p.API, APIs())}
}
