package loose_test

import (
	"math"
	"testing"

	"github.com/skein-dev/skein/internal/loose"
)

func TestATimeIsOneInWhateverUnit(t *testing.T) {
	for _, n := range []float64{1754564150, 1754564150000, 1754564150000000, 1754564150000000000, 1754564150.0004} {
		if got := loose.Epoch(n).String(); got != "2025-08-07T10:55:50.000Z" {
			t.Errorf("Epoch(%f) = %s", n, got)
		}
	}
	for _, n := range []float64{0, math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		if got := loose.Epoch(n); got != 0 {
			t.Errorf("Epoch(%f) = %s, want none", n, got)
		}
	}
}

func TestSQLTimeReadsWhatLibrariesWrite(t *testing.T) {
	for _, v := range []any{
		"2025-08-07 10:55:50", "2025-08-07 10:55:50.000000", "2025-08-07T10:55:50Z", "2025-08-07 10:55:50+00:00",
		"2025-08-07 12:55:50.000+02:00", int64(1754564150), 1754564150.0,
	} {
		if got, ok := loose.SQLTime(v); !ok || got.String() != "2025-08-07T10:55:50.000Z" {
			t.Errorf("SQLTime(%v) = %s, %v", v, got, ok)
		}
	}
	for _, v := range []any{nil, "", "now", "2025-13-01 00:00:00", []byte("2025-08-07 10:55:50"), 0.0} {
		if got, ok := loose.SQLTime(v); ok {
			t.Errorf("SQLTime(%v) = %s, want none", v, got)
		}
	}
}
