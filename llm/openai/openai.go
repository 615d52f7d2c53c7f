package openai

import (
	"cmp"
	"context"
	"iter"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// header has OpenAI's request ID.
const header = "X-Request-Id"

// A Provider reaches one of OpenAI's models by the Responses API.
type Provider struct {
	options   llm.Options
	rules     skein.Rules
	responses responses.ResponseService
}

// New returns a Provider.
//
// The error wraps [llm.ErrNoKey] (as a *[llm.NoKeyError]), or is that of
// [llm.Options.Check].
func New(o llm.Options) (*Provider, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	rules := skein.OpenAIResponsesRules(o.Model)
	rules.Provider = cmp.Or(o.Name, rules.Provider)
	if o.Key == "" {
		return nil, &llm.NoKeyError{Provider: rules.Provider, Variables: []string{"OPENAI_API_KEY"}}
	}
	return &Provider{o, rules, responses.NewResponseService(settings(o)...)}, nil
}

// settings returns what the client library has to know.
func settings(o llm.Options) []option.RequestOption {
	s := []option.RequestOption{option.WithEnvironmentProduction(), option.WithHTTPClient(o.HTTP()), option.WithMaxRetries(0)}
	if o.BaseURL != "" {
		s = append(s, option.WithBaseURL(o.BaseURL))
	}
	if o.Key != "" {
		s = append(s, option.WithAPIKey(o.Key))
	}
	return s
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
		s := p.responses.NewStreaming(ctx, params, option.WithMiddleware(a.Do))
		defer func() { _ = s.Close() }() // an answer that nobody reads any more
		for a.failed == nil && s.Next() {
			e := s.Current()
			if d := a.take(&e); d != (llm.Delta{}) && !yield(d, nil) {
				return
			}
		}
		if a.failed == nil {
			a.failed = reason(s.Err())
		}
		yield(a.End(ctx, a.failed))
	}
}
