package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/search"
)

// Ago returns t as people say it at now, in at most 10 columns: just now, 5m ago,
// 3h ago, 2d ago, Nov 2, 2025-11-02; "" if t is not known.
func Ago(t skein.Time, now time.Time) string {
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

// Stamp returns t as a date and time in now's zone; "" if t is not known.
func Stamp(t skein.Time, now time.Time) string {
	if t == 0 {
		return ""
	}
	return t.Std().In(now.Location()).Format("2006-01-02 15:04")
}

// Span parses --since and --until as people type them, in now's zone; "" means no
// limit.
//
// The error wraps fault.ErrUsage and names the flag.
func Span(since, until string, now time.Time) (from, to skein.Time, err error) {
	if since != "" {
		if from, err = search.ParseSince(since, now); err != nil {
			return 0, 0, fault.Usage("--since %q: want an age like 3h, 2d or 2w, today, yesterday, or a date like 2026-11-21", since)
		}
	}
	if until != "" {
		if to, err = search.ParseUntil(until, now); err != nil {
			return 0, 0, fault.Usage("--until %q: want an age like 3h, 2d or 2w, today, yesterday, or a date like 2026-11-21", until)
		}
	}
	return from, to, nil
}

// BytesText formats n bytes for people.
func BytesText(n int64) string { return render.Bytes(n) }

// ParseBytes reads a size as people type it: 1GB, 1.5 MB, 200k, 4096. Units are
// powers of 1000; KiB and so on are powers of 1024. It returns false if s is not a
// size.
func ParseBytes(s string) (int64, bool) {
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

// Seconds formats d for people.
func Seconds(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

// Count returns n and the noun: 1 turn, 2 turns.
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return render.Count(int64(n)) + " " + what + "s"
}

// ShellWord returns s as one word of a POSIX shell's command line.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return strings.ContainsRune("~=", r) || special(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// WindowsWord returns s as one word of a command line of cmd and PowerShell, as far
// as they agree.
func WindowsWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r != '\\' && special(r) }) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	return !strings.ContainsRune("/._-+:@%,=~", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}

// Distance returns how many letters must be inserted, removed, replaced or swapped
// with the next one to turn a into b.
func Distance(a, b string) int {
	before, last := []int(nil), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j], row[j-1]) + 1
			if a[i-1] == b[j-1] {
				row[j] = min(row[j], last[j-1])
			} else {
				row[j] = min(row[j], last[j-1]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// CmpOr returns n if it is above 0, else other.
func CmpOr(n, other int) int {
	if n > 0 {
		return n
	}
	return other
}
