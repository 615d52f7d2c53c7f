package search

import (
	"strconv"
	"time"

	"github.com/skein-dev/skein"
)

// ParseSince parses a time that a person typed as the beginning of a span:
// 30m, 2h, 7d, 3w before now; today, yesterday; a date, 2026-11-21, or month,
// 2026-11; a date and time, 2026-11-21T14:30; or RFC 3339. Days begin at
// midnight in now's zone.
//
// The error wraps [ErrInvalid] and quotes s.
func ParseSince(s string, now time.Time) (skein.Time, error) {
	t, _, err := parseWhen(s, now)
	return skein.At(t), err
}

// ParseUntil parses a time as [ParseSince] does, as the end of a span, which does
// not include it: for a day or month, it is the midnight at its end.
//
// The error wraps [ErrInvalid] and quotes s.
func ParseUntil(s string, now time.Time) (skein.Time, error) {
	_, t, err := parseWhen(s, now)
	return skein.At(t), err
}

// parseWhen returns the beginning and the end of the time that s names.
func parseWhen(s string, now time.Time) (from, to time.Time, err error) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "today":
		return today, today.AddDate(0, 0, 1), nil
	case "yesterday":
		return today.AddDate(0, 0, -1), today, nil
	}
	if t, ok := ago(s, now); ok {
		return t, t, nil
	}
	if t, err := time.ParseInLocation("2006-01-02", s, now.Location()); err == nil {
		return t, t.AddDate(0, 0, 1), nil
	}
	if t, err := time.ParseInLocation("2006-01", s, now.Location()); err == nil {
		return t, t.AddDate(0, 1, 0), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, t, nil
		}
	}
	return from, to, skein.Invalidf("time %q: want one like 7d, 2h, yesterday or 2026-11-21", s)
}

// ago parses 30m, 2h, 7d, 3w as that long before now.
func ago(s string, now time.Time) (time.Time, bool) {
	if s == "" {
		return now, false
	}
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 16)
	if err != nil {
		return now, false
	}
	switch s[len(s)-1] {
	case 'm':
		return now.Add(-time.Duration(n) * time.Minute), true
	case 'h':
		return now.Add(-time.Duration(n) * time.Hour), true
	case 'd':
		return now.AddDate(0, 0, -int(n)), true
	case 'w':
		return now.AddDate(0, 0, -7*int(n)), true
	}
	return now, false
}
