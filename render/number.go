package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count returns n for people, with commas: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Short returns n for people, in a short form: 950, 12.3k, 4.5M.
func Short(n int64) string {
	in := func(v float64, unit string) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") + unit }
	switch v := float64(n); {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return in(v/1e3, "k")
	case n < 999_950_000:
		return in(v/1e6, "M")
	default:
		return in(v/1e9, "G")
	}
}

// Bytes returns n bytes for people, in decimal units: 512 B, 4.0 KB, 1.3 GB.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	units := [...]string{"B", "KB", "MB", "GB", "TB"}
	v, unit := float64(n), 0
	for v >= 999.95 && unit < len(units)-1 {
		v /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %s", v, units[unit])
}

// Clip returns at most n bytes of s, in whole characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
