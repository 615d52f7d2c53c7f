package render

import "testing"

func TestNumbersAreWrittenOneWay(t *testing.T) {
	for n, want := range map[int64][2]string{
		0: {"0", "0 B"}, 999: {"999", "999 B"}, 1000: {"1,000", "1.0 KB"}, -123456: {"-123,456", "-123456 B"},
		999_949: {"999,949", "999.9 KB"}, 999_950: {"999,950", "1.0 MB"}, 1_234_567_890: {"1,234,567,890", "1.2 GB"},
	} {
		if got := [2]string{Count(n), Bytes(n)}; got != want {
			t.Errorf("Count and Bytes of %d = %q, want %q", n, got, want)
		}
	}
}
