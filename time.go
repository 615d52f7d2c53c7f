package skein

import (
	"fmt"
	"time"
)

// A Time is a moment to the millisecond: milliseconds since 1970, UTC.
// 0 means that it is not known. In JSON and SQL it is text of one shape,
// 2026-11-21T04:36:00.123Z, and "" where it is not known.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// The first and the last Time that text of the one shape can hold.
const (
	firstTime Time = -62167219200000 // 0000-01-01T00:00:00.000Z
	lastTime  Time = 253402300799999 // 9999-12-31T23:59:59.999Z
)

// At returns t as a Time. The zero [time.Time] gives 0, and so does one
// outside of the years 0 to 9999, in UTC, which no text can hold.
func At(t time.Time) Time {
	if t.IsZero() || t.Before(firstTime.Std()) || t.After(lastTime.Std()) {
		return 0
	}
	return Time(t.UnixMilli())
}

// ParseTime reads an RFC 3339 time of any zone and precision; "" is 0.
//
// The error wraps [ErrInvalid] and has s in it; one that in UTC is not in the
// years 0 to 9999 is invalid too.
func ParseTime(s string) (Time, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, invalidf("time %q: want one like %s", s, timeLayout)
	}
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return 0, invalidf("time %q: it is in the year %d", s, y)
	}
	return At(t), nil
}

// Std returns t as a [time.Time] in UTC; the zero one if t is not known.
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// String returns t as text of 24 characters, or "" if it is not known.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.Std().Format(timeLayout)
}

// MarshalText implements [encoding.TextMarshaler].
//
// The error wraps [ErrInvalid] if t is not in the years 0 to 9999.
func (t Time) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, invalidf("time %d: year %d", int64(t), t.Std().Year())
	}
	return []byte(t.String()), nil
}

func (t Time) valid() bool { return t >= firstTime && t <= lastTime }

// UnmarshalText implements [encoding.TextUnmarshaler]; errors as [ParseTime].
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}

// Slot returns the start of the quarter of an hour that t lies in: the unit of
// the usage roll-up, from which any time zone's days can be summed.
func (t Time) Slot() Time {
	const quarter = 15 * 60 * 1000
	return t - (t%quarter+quarter)%quarter
}

// GoString is for test output.
func (t Time) GoString() string { return fmt.Sprintf("skein.Time(%q)", t.String()) }
