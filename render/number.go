package render

import (
	"fmt"
	"strconv"
)

// Count returns n for people, with commas: 1,234,567.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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
