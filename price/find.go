package price

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// find returns the model of this name, which is in lower case. If provider is
// empty, it is derived from the model's name.
func (t *List) find(provider, name string) (modelPrice, bool) {
	p := t.provider(provider, name)
	for _, name := range spellings(name) {
		if m, ok := t.in(p, name); ok {
			return m, true
		}
	}
	// Gateways put the vendor before the model: openai/gpt-5.
	if vendor, rest, ok := strings.Cut(name, "/"); ok && (provider == "" || t.byName(vendor) == p) {
		if v := t.byName(vendor); v != nil {
			return t.find(v.ID, rest)
		}
	}
	return modelPrice{}, false
}

// provider returns the provider with this name, or by the model, or nil. Claude Code
// names Anthropic also where Amazon is the seller, which puts the vendor before a model's
// name: us.anthropic.claude-opus-4-6-v1:0.
func (t *List) provider(name, model string) *providerPrices {
	switch {
	case (name == "" || name == "anthropic") && strings.Contains(model, "anthropic.claude"):
		return t.byName("aws")
	case name != "":
		return t.byName(name)
	}
	i := slices.IndexFunc(t.providers, func(p *providerPrices) bool { return p.Models.of(model) })
	if i < 0 {
		return nil
	}
	return t.providers[i]
}

func (t *List) byName(name string) *providerPrices {
	for _, p := range t.providers {
		if p.ID == name {
			return p
		}
	}
	for _, p := range t.providers {
		if p.Match.of(name) {
			return p
		}
	}
	return nil
}

// in returns the model of this name that p sells.
func (t *List) in(p *providerPrices, name string) (modelPrice, bool) {
	if p == nil {
		return modelPrice{}, false
	}
	models := p.models()
	if i := slices.IndexFunc(models, func(m modelPrice) bool { return m.Match.of(name) }); i >= 0 {
		return models[i], true
	}
	for _, id := range p.Fallback {
		if m, ok := t.in(t.byName(id), name); ok {
			return m, true
		}
	}
	return modelPrice{}, false
}

// spellings returns the names that a model may have in the table, the likeliest
// first: unchanged, with a hyphenated date, without a variant in brackets,
// without a date.
func spellings(name string) []string {
	all := []string{name, solid().ReplaceAllString(name, "-$1-$2-$3")}
	if short, _, ok := strings.Cut(name, "["); ok {
		all = append(all, short)
	}
	return append(all, dated().ReplaceAllString(all[len(all)-1], ""))
}

var (
	solid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\b`) })
	dated = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[-@]20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$`)
	})
)
