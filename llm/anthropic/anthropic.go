package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/http"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

// A Provider reaches one of Anthropic's models.
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
	rules := window.AnthropicRules(o.Model)
	rules.Provider = cmp.Or(o.Name, rules.Provider)
	if err := o.CheckKey(rules.Provider, "ANTHROPIC_API_KEY"); err != nil {
		return nil, err
	}
	o.BaseURL = cmp.Or(o.BaseURL, "https://api.anthropic.com")
	return &Provider{o, rules}, nil
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
		header := http.Header{"Anthropic-Version": {"2023-06-01"}}
		if p.options.Key != "" {
			header.Set("X-Api-Key", p.options.Key)
		}
		post := llm.Post{Base: p.options.BaseURL, Path: []string{"v1", "messages"}, Header: header, Body: body}
		a.Stream(ctx, &p.options, post, a.take, yield)
	}
}
