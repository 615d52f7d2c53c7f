package price

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// An Override is a price that a person set. Prices are US dollars per million
// tokens.
type Override struct {
	Provider   string   `json:"provider,omitempty" toml:"provider"` // "" for any
	Model      string   `json:"model" toml:"model"`                 // name, ignoring case; a * at the end matches any ending
	Input      float64  `json:"input" toml:"input"`
	Output     float64  `json:"output" toml:"output"`
	Reasoning  *float64 `json:"reasoning,omitempty" toml:"reasoning"`     // nil: as Output
	CacheRead  *float64 `json:"cache_read,omitempty" toml:"cache_read"`   // nil: as Input
	CacheWrite *float64 `json:"cache_write,omitempty" toml:"cache_write"` // nil: as Input
	CacheHour  *float64 `json:"cache_hour,omitempty" toml:"cache_hour"`   // nil: as CacheWrite
}

func (o Override) check() error {
	if o.Model == "" {
		return fmt.Errorf("%w price: it names no model", skein.ErrInvalid)
	}
	for _, p := range []*float64{&o.Input, &o.Output, o.Reasoning, o.CacheRead, o.CacheWrite, o.CacheHour} {
		if p != nil && !(*p >= 0 && *p < 1e6) {
			return fmt.Errorf("%w price of model %q: %v dollars for a million tokens", skein.ErrInvalid, o.Model, *p)
		}
	}
	return nil
}

func (o Override) matches(provider, model string) bool {
	if o.Provider != "" && lower(o.Provider) != provider {
		return false
	}
	name := lower(o.Model)
	if begin, ok := strings.CutSuffix(name, "*"); ok {
		return strings.HasPrefix(model, begin)
	}
	return name == model
}

func (o Override) rates() rates {
	return rates{Input: o.Input, Output: o.Output, Reasoning: o.Reasoning, CacheRead: o.CacheRead, CacheWrite: o.CacheWrite, CacheHour: o.CacheHour}
}
