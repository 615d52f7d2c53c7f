package anthropic

import (
	"cmp"
	"context"
	"iter"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// A Provider reaches one of Anthropic's models.
type Provider struct {
	options  llm.Options
	rules    skein.Rules
	messages sdk.MessageService
}

// New returns a Provider.
//
// The error wraps [llm.ErrNoKey] (as a *[llm.NoKeyError]), or is that of
// [llm.Options.Check].
func New(o llm.Options) (*Provider, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	rules := skein.AnthropicRules(o.Model)
	rules.Provider = cmp.Or(o.Name, rules.Provider)
	if o.Key == "" {
		return nil, &llm.NoKeyError{Provider: rules.Provider, Variables: []string{"ANTHROPIC_API_KEY"}}
	}
	base := option.WithEnvironmentProduction()
	if o.BaseURL != "" {
		base = option.WithBaseURL(o.BaseURL)
	}
	return &Provider{o, rules, sdk.NewMessageService(base, option.WithAPIKey(o.Key), option.WithHTTPClient(o.HTTP()), option.WithMaxRetries(0))}, nil
}

// About implements [llm.Provider].
func (p *Provider) About() llm.About {
	return llm.About{Provider: p.rules.Provider, Model: p.options.Model, Rules: p.rules}
}

// Stream implements [llm.Provider].
func (p *Provider) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		a := newAnswer(p)
		params, err := p.params(ctx, r)
		if err != nil {
			yield(llm.Delta{}, err)
			return
		}
		s := p.messages.NewStreaming(ctx, params, option.WithMiddleware(a.Do))
		defer func() { _ = s.Close() }() // an answer that nobody reads any more
		for s.Next() {
			e := s.Current()
			if d := a.take(&e); d != (llm.Delta{}) && !yield(d, nil) {
				return
			}
		}
		yield(a.End(ctx, reason(s.Err())))
	}
}
