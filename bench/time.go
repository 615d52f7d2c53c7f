package main

import (
	"fmt"
	"slices"
	"time"
)

// A series is the durations of repetitions of one operation.
type series []time.Duration

// at returns the value that a share p of the series does not exceed.
func (s series) at(p float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func (s series) median() time.Duration { return s.at(0.5) }

// repeat times f n times, after one run that is not counted.
func repeat(n int, f func() error) (s series, err error) {
	for i := range n + 1 {
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		if i > 0 {
			s = append(s, time.Since(start))
		}
	}
	return s, nil
}

func rate(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }

func perSecond(r float64) string { return fmt.Sprintf("%.0f/s", r) }

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/b) }

// short prints d with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

func mega(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
