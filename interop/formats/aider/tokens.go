package aider

import (
	"math"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// usageOf reads a report such as
//
//	Tokens: 12k sent, 1.2k cache write, 8.0k cache hit, 340 received. Cost: $0.05 message, $0.10 session.
func usageOf(line string) (u skein.Usage) {
	tokens, cost, _ := strings.Cut(strings.TrimPrefix(line, "Tokens: "), "Cost: $")
	for _, part := range strings.Split(strings.TrimRight(strings.TrimSpace(tokens), "."), ", ") {
		n, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch what {
		case "sent":
			u.Input = count(n)
		case "received":
			u.Output = count(n)
		case "cache write":
			u.CacheWrite = count(n)
		case "cache hit":
			u.CacheRead = count(n)
		}
	}
	if cached := u.CacheRead + u.CacheWrite; cached <= u.Input {
		u.Input -= cached
	}
	message, _, _ := strings.Cut(cost, " ")
	if f, err := strconv.ParseFloat(strings.ReplaceAll(message, ",", ""), 64); err == nil && f > 0 && f < 1e6 {
		u.Reported = int64(math.Round(f * 1e9))
	}
	return u
}

// count reads a number as aider rounds it: 340, 1.2k, 12k, 12,345.
func count(s string) int64 {
	s = strings.ReplaceAll(s, ",", "")
	factor := 1.0
	if rest, ok := strings.CutSuffix(s, "k"); ok {
		s, factor = rest, 1000
	} else if rest, ok := strings.CutSuffix(s, "M"); ok {
		s, factor = rest, 1e6
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f*factor >= 1<<53 {
		return 0
	}
	return int64(math.Round(f * factor))
}
