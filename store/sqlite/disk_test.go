package sqlite

import "testing"

func TestSizesAreSaidInUnitsThatFit(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 KB", 999_949: "999.9 KB", 999_950: "1.0 MB", 1_500_000_000: "1.5 GB", 5e15: "5000.0 TB"} {
		if got := inUnits(n); got != want {
			t.Errorf("inUnits(%d) = %q, want %q", n, got, want)
		}
	}
}
