package terminal

import (
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for before, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now", -30 * time.Second: "just now", time.Minute: "1m ago", 90 * time.Minute: "1h ago",
		25 * time.Hour: "1d ago", 8 * 24 * time.Hour: "Nov 13", 365 * 24 * time.Hour: "2025-11-21", -time.Hour: "2026-11-21",
	} {
		if got := Ago(skein.At(now.Add(-before)), now); got != want {
			t.Errorf("ago(%v before) = %q, want %q", before, got, want)
		}
	}
	if got := Ago(0, now); got != "" {
		t.Errorf("ago of an unknown time = %q, want nothing", got)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "4096B": 4096, "200k": 200_000, "1.5 MB": 1_500_000, "500mb": 500_000_000, "1GB": 1e9, "1KiB": 1024, "2 GiB": 2 << 30, "1T": 1e12,
		"": -1, "B": -1, "MB": -1, "1XB": -1, "1KMB": -1, "-1": -1, "1 GB!": -1, "1..5k": -1, "99999999T": -1,
	} {
		got, ok := ParseBytes(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parseBytes(%q) = %d, %t; want %d", text, got, ok, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 KB", 999_949: "999.9 KB", 999_950: "1.0 MB", 1_500_000_000: "1.5 GB", 5e15: "5000.0 TB"} {
		if got := BytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}
