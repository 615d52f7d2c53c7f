package price

// A tierPrice is the published price of a service tier, as a factor of the
// standard price of everything that a request reads and writes.
type tierPrice struct {
	provider string // its ID
	model    string // its ID; "" for all models of the provider
	service  string // as [skein.Tier.Service]
	factor   float64
}

// tiers are those that Anthropic (its pages on batches and on fast mode),
// Google (its page on optimization) and OpenAI (its pages on batches, flex and
// priority processing) publish. The table has a few of them as models with
// names of their own; a test compares these with them. The price of Anthropic's
// priority tier depends on a contract, and of Google's only the bounds are
// known.
var tiers = []tierPrice{
	{"anthropic", "", "batch", 0.5},
	{"anthropic", "claude-opus-4-6", "fast", 6},
	{"anthropic", "claude-opus-4-7", "fast", 6},
	{"anthropic", "claude-opus-4-8", "fast", 2},
	{"anthropic", "claude-opus-5", "fast", 2},
	{"google", "", "batch", 0.5},
	{"google", "", "flex", 0.5},
	{"openai", "", "batch", 0.5},
	{"openai", "", "flex", 0.5},
	{"openai", "gpt-4.1", "priority", 3.5 / 2},
	{"openai", "gpt-4.1-mini", "priority", 0.7 / 0.4},
	{"openai", "gpt-4.1-nano", "priority", 0.2 / 0.1},
	{"openai", "gpt-4o", "priority", 4.25 / 2.5},
	{"openai", "gpt-4o-2024-05-13", "priority", 8.75 / 5},
	{"openai", "gpt-4o-mini", "priority", 0.25 / 0.15},
	{"openai", "gpt-5", "priority", 2.5 / 1.25},
	{"openai", "gpt-5-mini", "priority", 0.45 / 0.25},
	{"openai", "gpt-5.1", "priority", 2.5 / 1.25},
	{"openai", "gpt-5.2", "priority", 3.5 / 1.75},
	{"openai", "gpt-5.4", "priority", 5 / 2.5},
	{"openai", "gpt-5.4-mini", "priority", 1.5 / 0.75},
	{"openai", "gpt-5.5", "priority", 12.5 / 5},
	{"openai", "o3", "priority", 3.5 / 2},
	{"openai", "o4-mini", "priority", 2 / 1.1},
}

// factor returns the price of a model's service tier as a multiple of the
// standard one, and false if that is not known. provider is the seller's name
// in the record; "" for the model's own vendor.
func (t *List) factor(provider, name string, m modelPrice, service string) (float64, bool) {
	if service == "" {
		return 1, true
	}
	p := t.provider(provider, name)
	for _, x := range tiers {
		if p != nil && x.provider == p.ID && x.service == service && (x.model == "" || x.model == m.ID) {
			return x.factor, true
		}
	}
	return 0, false
}
