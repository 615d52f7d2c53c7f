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

// At returns t as a Time. The zero [time.Time] gives 0.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// ParseTime reads an RFC 3339 time of any zone and precision; "" is 0.
//
// The error wraps [ErrInvalid] and has s in it.
func ParseTime(s string) (Time, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, invalidf("time %q: want one like %s", s, timeLayout)
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
	if y := t.Std().Year(); y < 0 || y > 9999 {
		return nil, invalidf("time %d: year %d", int64(t), y)
	}
	return []byte(t.String()), nil
}

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
