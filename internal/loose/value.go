package loose

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
)

// MaxNest is how deep JSON may be nested that stands in a string, a column or a
// document: it comes to stand inside an event, and must be readable there.
const MaxNest = 1000

// decoder tells where in its input a value stands.
type decoder struct{ *jsontext.Decoder }

func newDecoder(b []byte) decoder {
	return decoder{jsontext.NewDecoder(bytes.NewBuffer(b), Options())}
}

// value returns the next value of b: what ReadValue returns does not last.
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

// Elements returns the elements of an array, none if v is anything else.
func Elements(v jsontext.Value) (all []jsontext.Value) {
	if v.Kind() == '[' && jsonv2.Unmarshal(v, &all, Options()) != nil {
		return nil
	}
	return all
}

// Fits reports whether text is JSON that can stand in an event.
func Fits(text string) bool {
	return skein.Text(text).UTF8() == text && jsonl.Depth(text) <= MaxNest && json.Valid([]byte(text))
}

// Inner returns the JSON that a string holds, or the value itself if it is no
// string or holds none; nil for null.
func Inner(v jsontext.Value) json.RawMessage {
	if s := Str(v); s != "" && Fits(s) {
		return json.RawMessage(s)
	}
	return Raw(v)
}

// AsJSON returns text as JSON: as it stands, or, where it is none, as a string.
// "" is nil.
func AsJSON(text string) json.RawMessage {
	switch {
	case text == "":
		return nil
	case Fits(text):
		return json.RawMessage(text)
	}
	return skein.MustJSON(skein.Text(text))
}

// Number returns a number, and false if v is none that is finite.
func Number(v jsontext.Value) (float64, bool) {
	f, err := strconv.ParseFloat(string(v), 64)
	return f, v.Kind() == '0' && err == nil && !math.IsInf(f, 0)
}

// Billionths returns a cost in dollars in billionths of a dollar, 0 for one
// that there cannot be.
func Billionths(v jsontext.Value) int64 {
	f, ok := Number(v)
	if n := math.Round(f * 1e9); ok && n > 0 && n < 1<<53 {
		return int64(n)
	}
	return 0
}

// Millis returns a time that is a number of milliseconds, 0 for one that there
// cannot be.
func Millis(v jsontext.Value) skein.Time {
	f, ok := Number(v)
	if t := skein.Time(f); ok && math.Abs(f) < 1<<53 && skein.At(t.Std()) == t {
		return t
	}
	return 0
}

// Stamp returns the time that a string of RFC 3339 names, 0 if it names none: a
// wrong stamp is no reason to lose what was said.
func Stamp(v jsontext.Value) skein.Time {
	t, err := skein.ParseTime(Str(v))
	if err != nil {
		return 0
	}
	return t
}

// Values cuts a line into the JSON values on it: one, unless a program began
// the next where another had not ended its line. Python's NaN and Infinity,
// which are no JSON, are taken as strings; the values then lie in a copy.
//
// The error says why there are no more of them.
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
