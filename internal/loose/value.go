package loose

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
)

// MaxNest is how deep JSON in a string, a column or a document may be nested: it is
// put inside an event, and must be readable there.
const MaxNest = 1000

// decoder returns where in its input a value is.
type decoder struct{ *jsontext.Decoder }

func newDecoder(b []byte) decoder {
	return decoder{jsontext.NewDecoder(bytes.NewBuffer(b), Options())}
}

// value returns the next value as a slice of b, because what ReadValue returns is
// valid only until the next call.
func (d decoder) value(b []byte) (jsontext.Value, error) {
	v, err := d.ReadValue()
	end := d.InputOffset()
	return b[end-int64(len(v)) : end : end], err
}

// Str returns the string that v is, and "" if it is anything else.
func Str(v jsontext.Value) string {
	s, _ := skein.Unquote(v)
	return s
}

// IsNull reports whether v is missing or null.
func IsNull(v jsontext.Value) bool { return len(v) == 0 || v[0] == 'n' }

// Raw returns v as a part of a payload; nil if it is null or nested deeper than
// [MaxNest].
func Raw(v jsontext.Value) json.RawMessage {
	if IsNull(v) || jsonl.Depth(v) > MaxNest {
		return nil
	}
	return json.RawMessage(v)
}

// Elements returns the elements of an array, which point into it; nil if v is anything
// else.
func Elements(v jsontext.Value) []jsontext.Value {
	if v.Kind() != '[' {
		return nil
	}
	d := newDecoder(v)
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	all := []jsontext.Value{}
	for d.PeekKind() != ']' {
		e, err := d.value(v)
		if err != nil {
			return nil
		}
		all = append(all, e)
	}
	return all
}

// Fits reports whether text is JSON that can be put in an event.
func Fits(text string) bool {
	return skein.Text(text).UTF8() == text && jsonl.Depth(text) <= MaxNest && json.Valid([]byte(text))
}

// Inner returns the JSON in a string, or the value itself if it is not a string or
// has no JSON; nil for null.
func Inner(v jsontext.Value) json.RawMessage {
	if s := Str(v); s != "" && Fits(s) {
		return json.RawMessage(s)
	}
	return Raw(v)
}

// AsJSON returns text as JSON: unchanged, or, if it is not JSON, as a string. For "",
// it returns nil.
func AsJSON(text string) json.RawMessage {
	switch {
	case text == "":
		return nil
	case Fits(text):
		return json.RawMessage(text)
	}
	return skein.MustJSON(skein.Text(text))
}

// Number returns a number, and false if v is not a finite number.
func Number(v jsontext.Value) (float64, bool) {
	f, err := strconv.ParseFloat(string(v), 64)
	return f, v.Kind() == '0' && err == nil && !math.IsInf(f, 0)
}

// Billionths returns a cost in dollars in billionths of a dollar; 0 if it is not
// possible.
func Billionths(v jsontext.Value) int64 {
	f, ok := Number(v)
	if n := math.Round(f * 1e9); ok && n > 0 && n < 1<<53 {
		return int64(n)
	}
	return 0
}

// Millis returns a time that is a number of milliseconds; 0 if it is not possible.
func Millis(v jsontext.Value) skein.Time {
	f, ok := Number(v)
	if t := skein.Time(f); ok && math.Abs(f) < 1<<53 && skein.At(t.Std()) == t {
		return t
	}
	return 0
}

// Stamp returns the time in an RFC 3339 string; 0 if it has none: a wrong timestamp
// is no reason to lose what was said.
func Stamp(v jsontext.Value) skein.Time {
	t, err := skein.ParseTime(Str(v))
	if err != nil {
		return 0
	}
	return t
}

// Values splits a line into the JSON values on it: one, unless a program began the
// next value before another program had ended its line. Python's NaN and Infinity,
// which are not JSON, are read as strings; the values are then slices of a copy.
//
// The error says why there are no more values.
func Values(line []byte) (all []jsontext.Value, err error) {
	for len(bytes.TrimSpace(line)) > 0 {
		d := newDecoder(line)
		v, err := d.value(line)
		if err != nil {
			again := quoteNumbers(line)
			if bytes.Equal(again, line) {
				return all, plain(err)
			}
			line = again
			continue
		}
		all = append(all, v)
		line = line[d.InputOffset():]
	}
	return all, nil
}

// quoteNumbers puts quotes around the numbers that only Python reads.
func quoteNumbers(line []byte) []byte {
	if !bytes.Contains(line, []byte("NaN")) && !bytes.Contains(line, []byte("Infinity")) {
		return line // the expression below is slow
	}
	strs := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)
	return strs.ReplaceAllFunc(line, func(b []byte) []byte {
		if b[0] == '"' {
			return b
		}
		return strconv.AppendQuote(nil, string(b))
	})
}
