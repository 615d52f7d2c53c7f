package cli

import (
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// ago returns t as people say it at now, in at most 10 columns: just now, 5m ago,
// 3h ago, 2d ago, Nov 2, 2025-11-02; "" if t is not known.
func ago(t skein.Time, now time.Time) string {
	if t == 0 {
		return ""
	}
	at := t.Std().In(now.Location())
	switch d := now.Sub(at); {
	case d < -time.Minute:
		return at.Format(time.DateOnly) // a clock runs ahead
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 7*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	case at.Year() == now.Year():
		return at.Format("Jan 2")
	}
	return at.Format(time.DateOnly)
}

// stamp returns t as a date and time in now's zone; "" if t is not known.
func stamp(t skein.Time, now time.Time) string {
	if t == 0 {
		return ""
	}
	return t.Std().In(now.Location()).Format("2006-01-02 15:04")
}

// span parses --since and --until as people type them, in now's zone; "" means no
// limit.
func span(since, until string, now time.Time) (from, to skein.Time, err error) {
	if since != "" {
		if from, err = search.ParseSince(since, now); err != nil {
			return 0, 0, usagef("--since %q: want an age like 3h, 2d or 2w, today, yesterday, or a date like 2026-11-21", since)
		}
	}
	if until != "" {
		if to, err = search.ParseUntil(until, now); err != nil {
			return 0, 0, usagef("--until %q: want an age like 3h, 2d or 2w, today, yesterday, or a date like 2026-11-21", until)
		}
	}
	return from, to, nil
}
