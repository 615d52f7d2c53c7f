package llm

import (
	"fmt"
	"net/http"
	"net/url"
)

// An Effort says how much a model thinks before it answers. The zero value
// leaves that to the model: most do not think then.
type Effort string

// The efforts.
const (
	Low    Effort = "low"
	Medium Effort = "medium"
	High   Effort = "high"
)

// Options say how to reach a model over HTTP.
type Options struct {
	Key     string // of the provider; it is sent only there, and is in no error and no log
	Keyless bool   // the server at BaseURL takes requests without a key
	BaseURL string // of the API; "" for the provider's default
	Model   string // the vendor's name for it
	Name    string // of the provider, if it is not the one whose API it speaks; "" if it is
	Effort  Effort
	Client  *http.Client // nil for one that gives up after ten minutes without a byte; redirects are not followed
}

// Check reports an error wrapping [ErrModel] if o names no model, and one
// wrapping [ErrRequest] if the base URL or the effort is invalid.
func (o *Options) Check() error {
	if o.Model == "" {
		return fmt.Errorf("%w: %q", ErrModel, o.Model)
	}
	switch o.Effort {
	case "", Low, Medium, High:
	default:
		return fmt.Errorf("%w: effort %q: want %s, %s or %s", ErrRequest, o.Effort, Low, Medium, High)
	}
	if o.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%w: base URL %q: it must begin with http:// or https://", ErrRequest, o.BaseURL)
	}
	return nil
}

// CheckKey reports an error wrapping [ErrNoKey] (as a *[NoKeyError]) if o has no key
// and the provider wants one, which is looked for in these environment variables.
func (o *Options) CheckKey(provider string, variables ...string) error {
	if o.Key != "" || o.Keyless {
		return nil
	}
	return &NoKeyError{Provider: provider, Variables: variables}
}
