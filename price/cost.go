package price

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// NanoUSD is an amount in billionths of a US dollar.
type NanoUSD int64

// String returns n in dollars: $12.34, below a dollar $0.0123, below $0.0001
// <$0.0001.
func (n NanoUSD) String() string {
	usd := float64(n) / 1e9
	switch {
	case n == 0 || usd >= 1:
		return fmt.Sprintf("$%.2f", usd)
	case usd > 0 && usd < 0.0001:
		return "<$0.0001"
	}
	return fmt.Sprintf("$%.4f", usd)
}

// price is an entry of a model's prices; doc.go says which entry applies when.
type price struct {
	rates
	From  string   `json:"from"`
	Hours []string `json:"hours"`
	Above int64    `json:"above"`
	Long  *rates   `json:"long"`
}

// rates are dollars per million tokens, or per thousand requests.
type rates struct {
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	Reasoning  *float64 `json:"reasoning"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
	CacheHour  *float64 `json:"cache_hour"`
	Requests   float64  `json:"requests"`
}

// Cost returns what a row of usage cost at a time, to the nearest billionth of
// a dollar, and false if the price is not known: unknown is not zero. Usage
// without tokens costs nothing, whatever the model.
//
// If r.Provider is "", it is derived from the model's name. If at is 0, the
// newest price applies. If the table has no price but the source reported a
// cost (r.Usage.Reported), Cost returns that.
//
// If the price of the service tier is not published, it is not known.
//
// A price that a person set applies to every tier. Answers of the models echo
// and replay, which run locally without a network, cost nothing.
func (t *List) Cost(r skein.UsageRow, at skein.Time) (cost NanoUSD, known bool) {
	u := r.Usage
	if u.Tokens() == 0 && u.Reported == 0 {
		return 0, true
	}
	provider, model := lower(r.Provider), lower(r.Model)
	for _, o := range t.overrides {
		if o.matches(provider, model) {
			return nano(o.rates().cost(u)), true
		}
	}
	if provider == "echo" || provider == "replay" {
		return 0, true
	}
	m, ok := t.find(provider, model)
	factor := 0.0
	if ok {
		factor, ok = t.factor(provider, model, m, r.Tier.Service())
	}
	if !ok {
		return NanoUSD(u.Reported), u.Reported > 0
	}
	p := m.at(at, t.Date)
	rates := p.rates
	if p.Long != nil && r.Tier.Above() >= p.Above {
		rates = p.Long.or(rates)
	}
	return nano(rates.cost(u) * factor), true
}

// Window returns how many tokens a model can read, 0 if that is not known. If
// provider is "", it is derived from the model's name.
func (t *List) Window(provider, model string) int64 {
	m, _ := t.find(lower(provider), lower(model))
	return m.Window
}

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

// at returns the price in force at t; if t is not known, on the day date.
func (m modelPrice) at(t skein.Time, date string) price {
	if t == 0 {
		t, _ = skein.ParseTime(date + "T23:59:59Z")
	}
	for i := len(m.Prices) - 1; i >= 0; i-- {
		if m.Prices[i].inForce(t.Std()) {
			return m.Prices[i]
		}
	}
	return m.Prices[0]
}

func (p price) inForce(t time.Time) bool {
	if p.From != "" {
		return t.Format(time.DateOnly) >= p.From
	}
	if len(p.Hours) == 2 {
		now, from, to := t.Format("15:04:05Z"), p.Hours[0], p.Hours[1]
		if to < from {
			return now >= from || now < to
		}
		return now >= from && now < to
	}
	return true
}

// cost returns the cost of u in billionths of a dollar.
func (r rates) cost(u skein.Usage) float64 {
	tokens := func(n int64, usd float64) float64 { return float64(n) * usd * 1e3 }
	part := func(p *float64, whole float64) float64 {
		if p == nil {
			return whole
		}
		return *p
	}
	reasoning, hour := min(u.Reasoning, u.Output), min(u.CacheHour, u.CacheWrite)
	write := part(r.CacheWrite, r.Input)
	return tokens(u.Input, r.Input) +
		tokens(u.Output-reasoning, r.Output) +
		tokens(reasoning, part(r.Reasoning, r.Output)) +
		tokens(u.CacheRead, part(r.CacheRead, r.Input)) +
		tokens(u.CacheWrite-hour, write) +
		tokens(hour, part(r.CacheHour, write)) +
		float64(cmp.Or(u.Requests, 1))*r.Requests*1e6
}

func nano(cost float64) NanoUSD { return NanoUSD(math.Round(cost)) }

// or returns r with missing rates taken from base.
func (r rates) or(base rates) rates {
	if r.Input == 0 {
		r.Input = base.Input
	}
	if r.Output == 0 {
		r.Output = base.Output
	}
	if r.Reasoning == nil {
		r.Reasoning = base.Reasoning
	}
	if r.CacheRead == nil {
		r.CacheRead = base.CacheRead
	}
	if r.CacheWrite == nil {
		r.CacheWrite = base.CacheWrite
	}
	if r.CacheHour == nil {
		r.CacheHour = base.CacheHour
	}
	r.Requests = base.Requests
	return r
}
