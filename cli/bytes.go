package cli

import (
	"math"
	"strconv"
	"strings"

	"github.com/skein-dev/skein/render"
)

// bytesText formats n bytes for people.
func bytesText(n int64) string { return render.Bytes(n) }

// parseBytes reads a size as people type it: 1GB, 1.5 MB, 200k, 4096. Units are
// powers of 1000; KiB and so on are powers of 1024. It returns false if s is not a
// size.
func parseBytes(s string) (int64, bool) {
	text := strings.ToUpper(strings.TrimSpace(s))
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	number, unit := text, ""
	if i >= 0 {
		number, unit = text[:i], strings.TrimSpace(text[i:])
	}
	base := 1000.0
	if strings.HasSuffix(unit, "IB") {
		base, unit = 1024, strings.TrimSuffix(unit, "IB")
	}
	power := strings.Index(" KMGT", strings.TrimSuffix(unit, "B"))
	if strings.TrimSuffix(unit, "B") == "" {
		power = 0
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || power < 0 || len(strings.TrimSuffix(unit, "B")) > 1 || v*math.Pow(base, float64(power)) >= math.MaxInt64 {
		return 0, false
	}
	return int64(v * math.Pow(base, float64(power))), true
}
