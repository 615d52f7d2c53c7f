package google

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/openai"
	"github.com/skein-dev/skein/llm/window"
)

const base = "https://generativelanguage.googleapis.com/v1beta/openai/"

// skip is the signature that Google documents for calls not made by Gemini.
const skip = `{"google":{"thought_signature":"skip_thought_signature_validator"}}`

// New returns a Provider that reaches a Gemini model.
//
// The error wraps [llm.ErrNoKey] (as a *[llm.NoKeyError]), or is that of
// [llm.Options.Check].
func New(o llm.Options) (llm.Provider, error) {
	if o.BaseURL == "" {
		o.BaseURL = base
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	if err := o.CheckKey(cmp.Or(o.Name, "google"), "GEMINI_API_KEY", "GOOGLE_API_KEY"); err != nil {
		return nil, err
	}
	rules := window.GoogleRules(o.Model)
	rules.Provider = cmp.Or(o.Name, rules.Provider)
	rules.Media = []string{"image/", "application/pdf", "audio/wav", "audio/mp3", "audio/mpeg"}
	rules.MaxCall = window.OpenAIChatRules(o.Model).MaxCall
	d := openai.Dialect{Name: rules.Provider, Rules: rules, Signed: true, Extra: thinking(o)}
	if !older(o.Model) {
		d.Unsigned = json.RawMessage(skip)
	}
	o.Effort = "" // Extra has it
	return openai.NewDialect(d, o)
}

// older reports whether model is one that measures thinking in tokens and does
// not require signatures.
func older(model string) bool {
	model = strings.TrimPrefix(model, "models/")
	return strings.HasPrefix(model, "gemini-1") || strings.HasPrefix(model, "gemini-2")
}

// thinking returns a request's settings for thoughts: how long, and that they
// are to be included.
func thinking(o llm.Options) any {
	if o.Effort == "" {
		return nil
	}
	config := map[string]any{"include_thoughts": true}
	if older(o.Model) {
		config["thinking_budget"] = map[llm.Effort]int{llm.Low: 1024, llm.Medium: 8192, llm.High: 24_576}[o.Effort]
	} else {
		config["thinking_level"] = string(o.Effort)
	}
	return map[string]any{"google": map[string]any{"thinking_config": config}}
}
