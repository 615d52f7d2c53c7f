package skein

import (
	"strconv"
	"strings"
)

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
