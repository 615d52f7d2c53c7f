package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein/internal/lines"
)

// A Value is what SQLite stores: nil, int64, float64, string (TEXT, even if it is not
// UTF-8) or []byte (BLOB).
type Value any

// appendValue appends v as JSON; see the package comment.
func appendValue(b []byte, v Value) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendReal(b, v)
	case string:
		if !utf8.ValidString(v) {
			b = append(b, `{"text":"`...)
			b = base64.StdEncoding.AppendEncode(b, []byte(v))
			return append(b, `"}`...)
		}
		return appendString(b, v)
	case lines.Rope:
		return appendValue(b, string(v.Bytes()))
	case []byte:
		b = append(b, `{"blob":"`...)
		b = base64.StdEncoding.AppendEncode(b, v)
		return append(b, `"}`...)
	}
	return append(b, "null"...)
}

func appendReal(b []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(strconv.AppendFloat(append(b, `{"real":"`...), f, 'g', -1, 64), `"}`...)
	}
	n := len(b)
	b = strconv.AppendFloat(b, f, 'g', -1, 64)
	if !bytes.ContainsAny(b[n:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

const hexDigits = "0123456789abcdef"

// appendString appends s, which is UTF-8, as a JSON string.
func appendString(b []byte, s string) []byte {
	return append(quoted(append(b, '"'), s), '"')
}

// quoted appends s, which is UTF-8, as it stands between the quotation marks of a JSON
// string: it is the [lines.Quote] of a row.
func quoted[T ~string | ~[]byte](b []byte, s T) []byte {
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(b, s[from:]...)
}

// parseValue is the inverse of appendValue.
func parseValue(raw json.RawMessage) (Value, error) {
	switch {
	case len(raw) == 0:
		return nil, fmt.Errorf("no value")
	case raw[0] == 'n':
		return nil, nil
	case raw[0] == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case raw[0] == '{':
		return parseOdd(raw)
	}
	if text := string(raw); strings.ContainsAny(text, ".eE") {
		return strconv.ParseFloat(text, 64)
	}
	return strconv.ParseInt(string(raw), 10, 64)
}

func parseOdd(raw json.RawMessage) (Value, error) {
	var odd struct{ Text, Blob, Real *string }
	if err := json.Unmarshal(raw, &odd); err != nil {
		return nil, err
	}
	switch {
	case odd.Real != nil:
		return strconv.ParseFloat(*odd.Real, 64)
	case odd.Text != nil:
		b, err := base64.StdEncoding.DecodeString(*odd.Text)
		return string(b), err
	case odd.Blob != nil:
		b, err := base64.StdEncoding.DecodeString(*odd.Blob)
		return b, err
	}
	return nil, fmt.Errorf("no value: %.40s", raw)
}
