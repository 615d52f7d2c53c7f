package price

import (
	"bytes"
	_ "embed" // the prices
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
)

//go:embed prices.jsonl
var data []byte

// A List knows what models cost. It is safe for concurrent use.
type List struct {
	Source string // source of the prices, with its version
	Date   string // of the source's release, 2026-09-23: later price changes are not in it

	overrides []Override
	providers []*providerPrices
}

// A providerPrices is a provider's line of the data; its models are parsed on
// first use, because most programs need two providers of forty.
type providerPrices struct {
	ID       string       `json:"provider"`
	Match    *namePattern `json:"match"`
	Models   *namePattern `json:"models"`
	Fallback []string     `json:"fallback"`

	models func() []modelPrice
}

type modelPrice struct {
	ID     string      `json:"id"`
	Match  namePattern `json:"match"`
	Window int64       `json:"window"`
	Prices []price     `json:"prices"`
}

// Load returns the built-in prices. Overrides precede them; the first that
// matches wins.
//
// The error wraps [skein.ErrInvalid] if an override names no model or has a
// negative price.
func Load(overrides ...Override) (t *List, err error) {
	defer skein.Wrapf(&err, "price: load")
	for _, o := range overrides {
		if err := o.check(); err != nil {
			return nil, err
		}
	}
	return parse(data, overrides)
}

func parse(data []byte, overrides []Override) (*List, error) {
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	t := &List{overrides: overrides}
	if err := json.Unmarshal(head, t); err != nil {
		return nil, fmt.Errorf("%w: first line of the prices: %w", skein.ErrCorrupt, err)
	}
	const begin = `{"provider":`
	for block := range strings.SplitSeq(string(rest), "\n"+begin) {
		line, models, _ := strings.Cut(strings.TrimPrefix(block, begin), "\n")
		p := &providerPrices{}
		if err := json.Unmarshal([]byte(begin+line), p); err != nil {
			return nil, fmt.Errorf("%w: prices: provider %.40q: %w", skein.ErrCorrupt, line, err)
		}
		p.models = sync.OnceValue(func() []modelPrice { return parseModels(models) })
		t.providers = append(t.providers, p)
	}
	return t, nil
}

// parseModels parses a provider's models. It panics on invalid lines: the data
// is built in, and a test parses all of it.
func parseModels(lines string) (ms []modelPrice) {
	for line := range strings.Lines(lines) {
		var m modelPrice
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			panic(fmt.Sprintf("price: model %.80q: %v", line, err))
		}
		for i := range m.Prices {
			m.Prices[i].fillHour(m.ID)
			if long := m.Prices[i].Long; long != nil {
				long.fillHour(m.ID)
			}
		}
		ms = append(ms, m)
	}
	return ms
}

// fillHour sets the price of what a Claude model puts into the cache for an hour, if the
// source has it only for five minutes: it is twice the input's with every seller.
func (r *rates) fillHour(model string) {
	if r.CacheHour == nil && r.CacheWrite != nil && strings.Contains(model, "claude") {
		hour := 2 * r.Input
		r.CacheHour = &hour
	}
}

// A namePattern matches names; exactly one field is set.
type namePattern struct {
	Equals   string        `json:"equals"`
	Starts   string        `json:"starts_with"`
	Ends     string        `json:"ends_with"`
	Contains string        `json:"contains"`
	Regex    *regex        `json:"regex"`
	Or       []namePattern `json:"or"`
	And      []namePattern `json:"and"`
	Not      *namePattern  `json:"not"`
}

// regex is compiled when it is decoded.
type regex struct{ *regexp.Regexp }

func (r *regex) UnmarshalText(b []byte) (err error) {
	r.Regexp, err = regexp.Compile(string(b))
	return err
}

// of reports whether m matches name, which is in lower case.
func (m *namePattern) of(name string) bool {
	switch {
	case m == nil:
		return false
	case m.Equals != "":
		return name == strings.ToLower(m.Equals)
	case m.Starts != "":
		return strings.HasPrefix(name, strings.ToLower(m.Starts))
	case m.Ends != "":
		return strings.HasSuffix(name, strings.ToLower(m.Ends))
	case m.Contains != "":
		return strings.Contains(name, strings.ToLower(m.Contains))
	case m.Regex != nil:
		return m.Regex.MatchString(name)
	case m.Not != nil:
		return !m.Not.of(name)
	case m.And != nil:
		return !anyOf(m.And, func(m *namePattern) bool { return !m.of(name) })
	}
	return anyOf(m.Or, func(m *namePattern) bool { return m.of(name) })
}

func anyOf(ms []namePattern, is func(*namePattern) bool) bool {
	for i := range ms {
		if is(&ms[i]) {
			return true
		}
	}
	return false
}
