package agentuse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/jsonl"
	"github.com/skein-dev/skein/internal/loose"
)

// maxNest is how deep a file may be nested: pieces of it end up inside events.
const maxNest = 1000

// read reads the first JSON value of a file as T, a struct with only the members that
// are used. If a name is repeated, the last one counts, and a lone surrogate is kept.
// damage says that something follows: two programs wrote the file at once.
func read[T any](data []byte) (v T, value json.RawMessage, damage string, err error) {
	lenient := loose.Options()
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	dec := jsontext.NewDecoder(bytes.NewReader(data), lenient)
	raw, err := dec.ReadValue()
	if err != nil {
		return v, nil, "", plain(err)
	}
	value = json.RawMessage(bytes.Clone(raw))
	switch {
	case value[0] != '{':
		return v, nil, "", errors.New("it is not a JSON object")
	case jsonl.Depth(value) > maxNest:
		return v, nil, "", fmt.Errorf("nested more than %d deep", maxNest)
	case !json.Valid(value):
		return v, nil, "", errors.New("it is not JSON that other programs can read")
	}
	if len(bytes.TrimSpace(data[dec.InputOffset():])) > 0 {
		damage = fmt.Sprintf("%d bytes follow the JSON", int64(len(data))-dec.InputOffset())
	}
	err = jsonv2.Unmarshal(value, &v, lenient)
	return v, value, damage, plain(err)
}

// object reads v as T; it returns the zero T if v is empty.
func object[T any](v jsontext.Value) (out T, err error) {
	if loose.IsNull(v) {
		return out, nil
	}
	err = jsonv2.Unmarshal(v, &out, loose.Options())
	return out, err
}

// plain rewords err without naming Go types.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	var semantic *jsonv2.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty")
	case errors.As(err, &syntax):
		return fmt.Errorf("invalid JSON at byte %d: %w", syntax.ByteOffset, syntax.Err)
	case errors.As(err, &semantic):
		return fmt.Errorf("%s is a JSON %s", semantic.JSONPointer, semantic.JSONKind)
	}
	return err
}

// raw returns v as a part of a payload; nil if it is null.
func raw(v jsontext.Value) json.RawMessage {
	if loose.IsNull(v) {
		return nil
	}
	return json.RawMessage(v)
}

// str returns the string that v is, and false if it is anything else.
func str(v jsontext.Value) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	return skein.Unquote(v)
}

// utf8 returns s as valid UTF-8.
func utf8(s string) string { return skein.Text(s).UTF8() }

// timeOf returns a time in milliseconds, 0 for an impossible one.
func timeOf(v jsontext.Value) skein.Time {
	var ms float64
	if loose.IsNull(v) || json.Unmarshal(v, &ms) != nil {
		return 0
	}
	if t := skein.Time(ms); skein.At(t.Std()) == t {
		return t
	}
	return 0
}

// tokensOf returns a count, 0 for an impossible one.
func tokensOf(v jsontext.Value) int64 {
	var n float64
	if loose.IsNull(v) || json.Unmarshal(v, &n) != nil || n < 0 || n > 1e15 {
		return 0
	}
	return int64(n)
}
