package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// bytesText returns n bytes for people: 512 B, 4.0 KB, 1.3 GB, in thousands.
func bytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), 0
	for v >= 999.95 && unit < len(byteUnits)-1 {
		v /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %s", v, byteUnits[unit])
}

var byteUnits = [...]string{"B", "KB", "MB", "GB", "TB"}

// parseBytes reads a size as people type it: 1GB, 1.5 MB, 200k, 4096. Units are
// thousands; KiB and so on are 1024. It returns false if s is none.
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
