package price

import (
	"errors"
	"testing"

	"github.com/skein-dev/skein"
)

// published has the results of the library that publishes the prices, for a
// short request and a long one.
var published = []struct {
	provider, model, at string
	short, long         NanoUSD
}{
	{"", "claude-sonnet-4-5-20250929", "", 12225000, 200250000},
	{"anthropic", "claude-sonnet-4-20250514", "", 12225000, 102000000},
	{"anthropic", "claude-opus-4-1-20250805", "", 61125000, 510000000},
	{"", "claude-opus-4-20250514", "", 61125000, 510000000},
	{"", "claude-haiku-4-5-20251001", "", 4075000, 34000000},
	{"", "claude-3-5-sonnet-20241022", "", 12225000, 102000000},
	{"", "claude-3-7-sonnet-latest", "", 12225000, 102000000},
	{"", "claude-opus-4-6", "2026-02-20T00:00:00Z", 20375000, 333750000},
	{"", "claude-opus-5-5", "", 15900000, 80000000},
	{"openai", "gpt-5-codex", "", 6875000, 43750000},
	{"", "gpt-5-codex", "", 6875000, 43750000},
	{"", "gpt-5.1-codex-max", "", 6875000, 43750000},
	{"", "gpt-5", "", 6875000, 43750000},
	{"", "gpt-5-2025-08-07", "", 6875000, 43750000},
	{"", "gpt-5-mini", "", 1375000, 8750000},
	{"", "o3", "", 7600000, 150000000},
	{"", "o4-mini-2025-04-16", "", 4180000, 82500000},
	{"", "gpt-4o-2024-08-06", "", 10750000, 362500000},
	{"", "gpt-4.1", "", 7600000, 150000000},
	{"", "gemini-2.5-pro", "", 6875000, 85000000},
	{"google", "gemini-2.5-flash", "", 1700000, 10550000},
	{"google-vertex", "claude-sonnet-4-5@20250929", "", 12225000, 200250000},
	{"openrouter", "anthropic/claude-sonnet-4.5", "", 12225000, 200250000},
	{"openrouter", "openai/gpt-5", "", 6875000, 43750000},
	{"amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", 13447500, 112200000},
	{"azure", "gpt-5", "", 6875000, 43750000},
	{"", "grok-code-fast-1", "", 1050000, 6950000},
	{"", "deepseek-chat", "2025-07-01T12:00:00Z", 1041000, 20960000},
	{"", "deepseek-chat", "2025-07-01T20:00:00Z", 520500, 10480000},
	{"", "kimi-k2-0905-preview", "", 2330000, 45050000},
	{"perplexity", "sonar-pro", "", 31400000, 870500000},
	{"", "codestral-latest", "", 1440000, 85350000},
	{"", "open-mistral-7b", "", 950000, 70875000},
	{"x-ai", "grok-4", "", 12900000, 226500000},
}

var (
	short = skein.Usage{Input: 1000, Output: 500, Reasoning: 100, CacheRead: 2000, CacheWrite: 300, Requests: 1}
	long  = skein.Usage{Input: 1000, Output: 500, CacheRead: 280000, CacheWrite: 2000, Requests: 1}
)

func builtIn(t *testing.T, overrides ...Override) *List {
	t.Helper()
	table, err := Load(overrides...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// cost returns the cost of one request.
func cost(t *List, provider, model string, at skein.Time, u skein.Usage) (NanoUSD, bool) {
	return t.Cost(skein.UsageRow{Provider: provider, Model: model, Tier: skein.TierOf("", u.Prompt()), Usage: u}, at)
}

func TestCostAgreesWithThePublisher(t *testing.T) {
	table := builtIn(t)
	for _, c := range published {
		at, err := skein.ParseTime(c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got, known := cost(table, c.provider, c.model, at, short); got != c.short || !known {
			t.Errorf("Cost(%q, %q, %v, short) = %d, %v, want %d", c.provider, c.model, at, got, known, c.short)
		}
		if got, known := cost(table, c.provider, c.model, at, long); got != c.long || !known {
			t.Errorf("Cost(%q, %q, %v, long) = %d, %v, want %d", c.provider, c.model, at, got, known, c.long)
		}
	}
}

func TestNamesThatMeanTheSameModel(t *testing.T) {
	table := builtIn(t)
	for _, c := range []struct{ provider, model, asModel string }{
		{"", "Claude-Sonnet-4-5", "claude-sonnet-4-5"},
		{"", "claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"},
		{"", "anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"},
		{"anthropic", "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"},
		{"", "claude-opus-5-20990101", "claude-opus-5"},
		{"", "openai/gpt-5-codex", "gpt-5-codex"},
		{"OpenAI", "gpt-5-codex", "gpt-5-codex"},
		{"", "gpt-5-codex-2025-09-15", "gpt-5-codex"},
		{"", "gpt-6-sol-20260901", "gpt-6-sol"},
		{"", "global.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"},
		{"anthropic", "global.anthropic.claude-opus-4-6-v1:0[1m]", "claude-opus-4-6"},
	} {
		want, known := cost(table, "", c.asModel, 0, short)
		got, ok := cost(table, c.provider, c.model, 0, short)
		if !known || !ok || got != want {
			t.Errorf("Cost(%q, %q) = %d, %v, want that of %q, %d, %v", c.provider, c.model, got, ok, c.asModel, want, known)
		}
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	table := builtIn(t)
	for _, c := range []struct{ provider, model string }{
		{"", "house-model-7b"},
		{"", ""},
		{"", "<synthetic>"},
		{"a-gateway-of-ours", "gpt-5"},
		{"openai", "claude-sonnet-4-5"},
		{"openai", "anthropic/claude-sonnet-4-5"},
		{"", "/"},
		{"", "openai/"},
	} {
		if got, known := cost(table, c.provider, c.model, 0, short); known {
			t.Errorf("Cost(%q, %q) = %d, known; want it unknown", c.provider, c.model, got)
		}
	}
	if got, known := cost(table, "", "house-model-7b", 0, skein.Usage{Requests: 3}); got != 0 || !known {
		t.Errorf("Cost of no tokens = %d, %v, want 0, known", got, known)
	}
	reported := skein.Usage{Input: 10, Reported: 4200}
	if got, known := cost(table, "", "house-model-7b", 0, reported); got != 4200 || !known {
		t.Errorf("Cost of what the source priced = %d, %v, want 4200, known", got, known)
	}
}

func TestOverridesComeFirst(t *testing.T) {
	free, read := 0.0, 0.5
	table := builtIn(t,
		Override{Provider: "corp", Model: "GPT-5", Input: 1, Output: 2},
		Override{Model: "house-*", Input: 1, Output: 10, CacheRead: &read, CacheWrite: &free},
		Override{Model: "claude-sonnet-4-5", Input: 1})
	for _, c := range []struct {
		provider, model string
		want            NanoUSD
	}{
		{"corp", "gpt-5", 3300e3 + 1000e3},
		{"openai", "gpt-5", 6875000},
		{"", "House-Model", 1000e3 + 5000e3 + 1000e3},
		{"anthropic", "claude-sonnet-4-5", 3300e3},
		{"anthropic", "claude-sonnet-4-5-20250929", 12225000},
	} {
		if got, known := cost(table, c.provider, c.model, 0, short); got != c.want || !known {
			t.Errorf("Cost(%q, %q) = %d, %v, want %d", c.provider, c.model, got, known, c.want)
		}
	}
	for _, o := range []Override{{}, {Model: "m", Input: -1}, {Model: "m", Output: 2e6}} {
		if _, err := Load(o); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Load(%+v) = %v, want ErrInvalid", o, err)
		}
	}
}

func TestPricesChangeWithTime(t *testing.T) {
	table := builtIn(t)
	costAt := func(at string) NanoUSD {
		when, err := skein.ParseTime(at)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := cost(table, "", "claude-opus-4-6", when, long)
		return got
	}
	before, after := costAt("2026-03-12T23:59:59Z"), costAt("2026-03-13T00:00:00Z")
	if before != 333750000 || after != 170000000 {
		t.Errorf("cost before and after 2026-03-13: %d and %d, want 333750000 and 170000000", before, after)
	}
	if got := costAt(""); got != after {
		t.Errorf("cost at an unknown time: %d, want the newest, %d", got, after)
	}
}

// A sum of short requests must not be taken for one long request, nor the usage
// of one long request for that of many short ones.
func TestTheTierDecidesWhetherThePromptWasLong(t *testing.T) {
	table := builtIn(t)
	for tier, want := range map[skein.Tier]NanoUSD{
		"":        200 * 3e9,
		">128000": 200 * 3e9,
		">199999": 200 * 3e9, // from 200,001 on
		">200000": 200 * 6e9,
		">512000": 200 * 6e9,
	} {
		got, known := table.Cost(skein.UsageRow{Model: "claude-sonnet-4-5", Tier: tier, Usage: skein.Usage{Input: 200e6, Requests: 400}}, 0)
		if got != want || !known {
			t.Errorf("Cost of tier %q = %d, %v, want %d", tier, got, known, want)
		}
	}
}

// Tiers distinguish every length above which a model of the table costs more.
func TestTiersTellApartWhatCostsMore(t *testing.T) {
	for _, p := range builtIn(t).providers {
		for _, m := range p.models() {
			for _, price := range m.Prices {
				if n := price.Above; skein.TierOf("", n).Above() >= n && n > 0 || skein.TierOf("", n+1).Above() < n {
					t.Errorf("%s of %s costs more above %d tokens: tiers of one more and of that are %q and %q", m.ID, p.ID, n, skein.TierOf("", n+1), skein.TierOf("", n))
				}
			}
		}
	}
}

// Computed by hand from the vendors' pages, in dollars per million tokens.
func TestWhatCachesAndTiersCost(t *testing.T) {
	table := builtIn(t)
	// 1,000 new at 3, 2,000 read at 0.30, 10,000 written: 4,000 for five minutes
	// at 3.75 and 6,000 for an hour at 6; 500 out at 15: 3,000 + 600 + 15,000 +
	// 36,000 + 7,500 = 62,100 millionths.
	sonnet := skein.Usage{Input: 1000, CacheRead: 2000, CacheWrite: 10_000, CacheHour: 6000, Output: 500, Requests: 1}
	// 100,000 new at 6, 50,000 read at 0.60, 60,000 written: 10,000 at 7.50 and
	// 50,000 at 12; 1,000 out at 22.50: 600,000 + 30,000 + 75,000 + 600,000 +
	// 22,500 = 1,327,500 millionths.
	beyond := skein.Usage{Input: 100_000, CacheRead: 50_000, CacheWrite: 60_000, CacheHour: 50_000, Output: 1000, Requests: 1}
	// 1,000,000 new, 100,000 out.
	plain := skein.Usage{Input: 1e6, Output: 1e5, Requests: 1}
	for _, c := range []struct {
		provider, model, service string
		u                        skein.Usage
		want                     NanoUSD
	}{
		{"anthropic", "claude-sonnet-4-5-20250929", "standard", sonnet, 62_100_000},
		{"anthropic", "claude-sonnet-4-5-20250929", "batch", sonnet, 31_050_000},
		{"", "claude-sonnet-4-5", "", beyond, 1_327_500_000},
		{"google-vertex", "claude-sonnet-4-5@20250929", "", beyond, 1_327_500_000},
		{"openrouter", "anthropic/claude-sonnet-4.5", "", sonnet, 62_100_000},
		{"amazon-bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", "", sonnet, 62_100_000},
		{"", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", sonnet, 68_310_000}, // a tenth more
		{"", "claude-sonnet-4-5", "batch", beyond, 663_750_000},
		{"anthropic", "claude-opus-4-8", "", plain, 5e9 + 2.5e9},
		{"anthropic", "claude-opus-5", "fast", plain, 10e9 + 5e9},
		{"openai", "gpt-5-codex", "default", plain, 1.25e9 + 1e9},
		{"openai", "gpt-5-codex", "flex", plain, 0.625e9 + 0.5e9},
		{"", "gpt-5-mini-2025-08-07", "priority", plain, 0.45e9 + 0.36e9},
		{"openai", "gpt-4.1", "batch", plain, 1e9 + 0.4e9},
		{"google", "gemini-2.5-pro", "", plain, 2.5e9 + 1.5e9},
		{"google", "gemini-2.5-pro", "flex", plain, 1.25e9 + 0.75e9},
	} {
		r := skein.UsageRow{Provider: c.provider, Model: c.model, Tier: skein.TierOf(c.service, c.u.Prompt()), Usage: c.u}
		if got, known := table.Cost(r, 0); got != c.want || !known {
			t.Errorf("Cost(%+v) = %d, %v, want %d", r, got, known, c.want)
		}
	}
	for _, c := range [][3]string{{"anthropic", "claude-sonnet-4-5", "priority"}, {"google", "gemini-2.5-pro", "priority"}, {"openrouter", "openai/gpt-5", "flex"}, {"", "openai/gpt-5", "priority"}} {
		if got, known := table.Cost(skein.UsageRow{Provider: c[0], Model: c[1], Tier: skein.TierOf(c[2], 0), Usage: plain}, 0); known {
			t.Errorf("Cost of %v = %d, known; want it unknown", c, got)
		}
	}
}

// The table has some tiers as models that gateways sell.
func TestTiersCostWhatGatewaysAskForThem(t *testing.T) {
	table, u := builtIn(t), skein.Usage{Input: 1e6, Output: 1e5, CacheRead: 2e6, CacheWrite: 3e5, Requests: 1}
	for _, c := range [][3]string{
		{"anthropic", "claude-opus-4.6", "fast"},
		{"anthropic", "claude-opus-4.7", "fast"},
		{"anthropic", "claude-opus-4.8", "fast"},
		{"anthropic", "claude-opus-5", "fast"},
		{"openai", "gpt-6-luna", "batch"},
		{"openai", "gpt-6-sol", "batch"},
	} {
		sign := map[string]string{"fast": "-", "batch": ":"}[c[2]]
		want, known := table.Cost(skein.UsageRow{Provider: "openrouter", Model: c[0] + "/" + c[1] + sign + c[2], Usage: u}, 0)
		got, ok := table.Cost(skein.UsageRow{Provider: c[0], Model: c[1], Tier: skein.Tier(c[2]), Usage: u}, 0)
		if got != want || !known || !ok {
			t.Errorf("Cost of %v = %d, %v, want %d, %v as the gateway asks", c, got, ok, want, known)
		}
	}
}

func TestEveryModelOfTheDataReads(t *testing.T) {
	table, n := builtIn(t), 0
	for _, p := range table.providers {
		for _, m := range p.models() {
			if n++; m.ID == "" || len(m.Prices) == 0 {
				t.Errorf("provider %s: model %+v has no name or price", p.ID, m)
			}
		}
	}
	if n < 1000 || table.Date == "" || table.Source == "" {
		t.Errorf("%d models of %q, %q", n, table.Source, table.Date)
	}
}

func TestNanoUSDString(t *testing.T) {
	for n, want := range map[NanoUSD]string{0: "$0.00", 7: "<$0.0001", 12225000: "$0.0122", 1_500_000_000: "$1.50", 1234_560_000_000: "$1234.56"} {
		if got := n.String(); got != want {
			t.Errorf("NanoUSD(%d) = %s, want %s", int64(n), got, want)
		}
	}
}

func BenchmarkLoadAndCost(b *testing.B) {
	for b.Loop() {
		table, err := Load()
		if err != nil {
			b.Fatal(err)
		}
		cost(table, "", "claude-sonnet-4-5-20250929", 0, short)
	}
}

func TestWindowIsWhatTheModelCanRead(t *testing.T) {
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[[2]string]int64{
		{"anthropic", "claude-sonnet-4-5-20250929"}: 200_000,
		{"openai", "gpt-5"}:                         400_000,
		{"", "gpt-5"}:                               400_000,
		{"ollama", "gpt-5"}:                         0,
		{"echo", "echo"}:                            0,
	} {
		if got := table.Window(name[0], name[1]); got != want {
			t.Errorf("Window(%q, %q) = %d, want %d", name[0], name[1], got, want)
		}
	}
}
