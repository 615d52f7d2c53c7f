package openai

import (
	"cmp"
	"context"
	"iter"
	"net/http"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// header is the name of the header with OpenAI's request ID.
const header = "X-Request-Id"

// A Provider reaches one of OpenAI's models by the Responses API.
type Provider struct {
	options llm.Options
	rules   window.Rules
}

// New returns a Provider.
//
// The error wraps [llm.ErrNoKey] (as a *[llm.NoKeyError]), or is that of
// [llm.Options.Check].
func New(o llm.Options) (*Provider, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	rules := window.OpenAIResponsesRules(o.Model)
	rules.Provider = cmp.Or(o.Name, rules.Provider)
	if err := o.CheckKey(rules.Provider, "OPENAI_API_KEY"); err != nil {
		return nil, err
	}
	return &Provider{o, rules}, nil
}

// post returns the request with that body to an endpoint. Without a key, none
// is sent.
func post(o *llm.Options, body any, path ...string) llm.Post {
	p := llm.Post{Base: cmp.Or(o.BaseURL, "https://api.openai.com/v1"), Path: path, Header: http.Header{}, Body: body}
	if o.Key != "" {
		p.Header.Set("Authorization", "Bearer "+o.Key)
	}
	return p
}

// About implements [llm.Provider].
func (p *Provider) About() llm.About {
	return llm.About{Provider: p.rules.Provider, Model: p.options.Model, Rules: p.rules}
}

// Stream implements [llm.Provider].
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		a := newAnswer(p)
		body, err := p.request(ctx, r)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		a.Stream(ctx, &p.options, post(&p.options, body, "responses"), a.take, yield)
	}
}
