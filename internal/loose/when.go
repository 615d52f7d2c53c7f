package loose

import (
	"math"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// Epoch returns the time of a number of seconds since 1970, or of milli-, micro- or
// nanoseconds, whichever gives a plausible date; 0 if none does.
func Epoch(n float64) skein.Time {
	seconds := n
	for _, unit := range []float64{1e3, 1e6, 1e9} {
		if math.Abs(seconds) < 1e11 { // the year 5138
			break
		}
		seconds = n / unit
	}
	if !(math.Abs(seconds) < 1e11) {
		return 0
	}
	return skein.At(time.UnixMilli(int64(math.Round(seconds * 1000))))
}

// SQLTime returns the time in a column as SQLite, Python and sqlx write it: text with
// a space or a T, with or without a fraction and a zone, which is UTC if there is
// none; or a number, see [Epoch]. ok is false if it is not a time.
func SQLTime(v any) (t skein.Time, ok bool) {
	switch v := v.(type) {
	case int64:
		t = Epoch(float64(v))
	case float64:
		t = Epoch(v)
	case string:
		t = sqlText(v)
	}
	return t, t != 0
}

func sqlText(s string) skein.Time {
	s = strings.Replace(strings.TrimSpace(s), " ", "T", 1)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return skein.At(t)
		}
	}
	return 0
}
