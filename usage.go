package skein

import (
	"strconv"
	"strings"
)

// A Usage is what model requests used. Token counts are the provider's own; a
// count that it does not report is 0.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // tokens read, without those of CacheRead and CacheWrite
	Output     int64 `json:"output,omitempty"`      // tokens written, Reasoning included
	Reasoning  int64 `json:"reasoning,omitempty"`   // part of Output
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens put into it
	CacheHour  int64 `json:"cache_hour,omitempty"`  // part of CacheWrite: put there for an hour, which costs more than for five minutes
	Requests   int64 `json:"requests,omitempty"`    // model requests; set by the fold
	Reported   int64 `json:"reported,omitempty"`    // cost that the source reported, in billionths of a US dollar; 0 if it did not
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		CacheHour:  u.CacheHour + v.CacheHour,
		Requests:   u.Requests + v.Requests,
		Reported:   u.Reported + v.Reported,
	}
}

// Minus returns what u has more than v, field by field.
func (u Usage) Minus(v Usage) Usage {
	return u.Plus(Usage{-v.Input, -v.Output, -v.Reasoning, -v.CacheRead, -v.CacheWrite, -v.CacheHour, -v.Requests, -v.Reported})
}

// Merge returns what is known of one request of which first u, then v was
// reported: the larger output, for it grows while an answer streams, and of
// the other counters the later one that is not 0. CacheHour stays a part of
// CacheWrite.
func (u Usage) Merge(v Usage) Usage {
	later := func(a, b int64) int64 {
		if b != 0 {
			return b
		}
		return a
	}
	return Usage{
		Input:      later(u.Input, v.Input),
		Output:     max(u.Output, v.Output),
		Reasoning:  max(u.Reasoning, v.Reasoning),
		CacheRead:  later(u.CacheRead, v.CacheRead),
		CacheWrite: later(u.CacheWrite, v.CacheWrite),
		CacheHour:  min(later(u.CacheHour, v.CacheHour), later(u.CacheWrite, v.CacheWrite)),
		Requests:   max(u.Requests, v.Requests),
		Reported:   max(u.Reported, v.Reported),
	}
}

// Tokens returns all tokens of u: read, written and cached.
func (u Usage) Tokens() int64 { return u.Prompt() + u.Output }

// Prompt returns all tokens that were read: new, from the cache and put into it.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// A Charge is what one event says of the cost of one request.
type Charge struct {
	Request  string // provider request ID; the store counts each once per user
	Provider string
	Model    string
	Tier     Tier // what Usage and the record say; [Added.Tier] knows of the events before, too
	Several  bool // Usage is of several requests, of whose prompts nothing is known
	Time     Time
	Usage    Usage // Requests is 1
}

// tier returns the tier of the request if u is what it used.
func (c *Charge) tier(service string, u Usage) Tier {
	if c.Several {
		return TierOf(service, 0)
	}
	return TierOf(service, u.Prompt())
}

// A Tier is what besides the model decides the price of a request: its service
// tier and how long its prompt was. It is the service tier (batch, flex,
// priority or fast; "" for the usual one) and, where the prompt was longer than
// the shortest of the lengths from which some provider asks for more, ">" and
// the greatest such length that it was longer than: "", "batch", ">200000",
// "batch>200000".
type Tier string

// longPrompts are the lengths in tokens beyond which prompts cost more, of any
// provider. Prices know no other: a test of theirs says so.
var longPrompts = []int64{128_000, 199_999, 200_000, 271_999, 272_000, 512_000}

// ServiceTier returns the service tier that a provider calls word: batch, flex,
// priority or fast; "" for the usual one, which providers call standard or
// default, and for what none is known to ask another price for.
func ServiceTier(word string) string {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "batch", "flex", "priority", "fast":
		return word
	}
	return ""
}

// TierOf returns the tier of a request with this service tier, as its provider
// calls it, and a prompt of so many tokens.
func TierOf(service string, prompt int64) Tier {
	service = ServiceTier(service)
	above := int64(0)
	for _, n := range longPrompts {
		if prompt > n {
			above = n
		}
	}
	if above == 0 {
		return Tier(service)
	}
	return Tier(service + ">" + strconv.FormatInt(above, 10))
}

// Service returns the service tier: batch, flex, priority or fast; "" for the
// usual one.
func (t Tier) Service() string {
	service, _, _ := strings.Cut(string(t), ">")
	return service
}

// Above returns the greatest length from which some provider asks for more that
// the prompt was longer than; 0 for none.
func (t Tier) Above() int64 {
	_, above, _ := strings.Cut(string(t), ">")
	n, err := strconv.ParseInt(above, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
