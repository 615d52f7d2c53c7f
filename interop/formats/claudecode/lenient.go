package claudecode

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// options allow what other programs write: duplicate names, lone surrogates.
func options() json.Options { return lenient }

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// raw is a value as it is in the line: a part of its bytes, not a copy.
type raw []byte

// Kind returns what the value is, as [jsontext.Value.Kind] does.
func (v raw) Kind() jsontext.Kind { return jsontext.Value(v).Kind() }

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON. The decoder reads from the bytes that were given to Unmarshal,
// which outlive it.
func (v *raw) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	b, err := dec.ReadValue()
	*v = raw(b[:len(b):len(b)])
	return err
}

// str is a string; any other value reads as "".
type str string

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (s *str) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	text, _ := skein.Unquote(v)
	*s = str(skein.Text(text).UTF8())
	return nil
}

// text is a string that keeps lone surrogates; any other value reads as "".
type text string

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	s, _ := skein.Unquote(v)
	*t = text(s)
	return nil
}

// flag is a boolean; any other value reads as false.
type flag bool

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (f *flag) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	*f = v.Kind() == 't'
	return err
}

// number is a non-negative whole number; any other value reads as 0.
type number int64

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if i, err := strconv.ParseInt(string(v), 10, 64); err == nil && i >= 0 && i < 1<<53 {
		*n = number(i)
	}
	return nil
}

// dollars is an amount of money, in billionths; any other value reads as 0.
type dollars int64

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (d *dollars) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err == nil {
		*d = dollars(loose.Billionths(v))
	}
	return err
}

// strs is a list of strings; other elements are left out.
type strs []string

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (s *strs) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil || v.Kind() != '[' {
		return err
	}
	var vs []str
	err = json.Unmarshal(v, &vs, options())
	for _, e := range vs {
		if e != "" {
			*s = append(*s, string(e))
		}
	}
	return err
}

// object reads the next value into v if it is an object, and skips it otherwise.
func object(dec *jsontext.Decoder, v any) error {
	if dec.PeekKind() != '{' {
		return dec.SkipValue()
	}
	return json.UnmarshalDecode(dec, v)
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON. What is neither object nor null is the content itself.
func (m *message) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if k := dec.PeekKind(); k != '{' && k != 'n' {
		v, err := dec.ReadValue()
		m.Content = raw(v[:len(v):len(v)])
		return err
	}
	type plain message
	return object(dec, (*plain)(m))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (u *usage) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain usage
	return object(dec, (*plain)(u))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (o *origin) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain origin
	return object(dec, (*plain)(o))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (a *attachment) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain attachment
	return object(dec, (*plain)(a))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (p *progress) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain progress
	return object(dec, (*plain)(p))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (c *compactMeta) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain compactMeta
	return object(dec, (*plain)(c))
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]; errors are those of
// invalid JSON.
func (b *blobSource) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	type plain blobSource
	return object(dec, (*plain)(b))
}

// without returns the JSON object b without the members of these names, its other
// bytes unchanged.
func without(b []byte, names ...string) []byte {
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), options())
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return b
	}
	out := append(make([]byte, 0, len(b)), '{')
	for dec.PeekKind() == '"' {
		start := int(dec.InputOffset())
		name, err := dec.ReadToken()
		if err != nil {
			return b
		}
		left := slices.Contains(names, name.String())
		if dec.SkipValue() != nil {
			return b
		}
		if !left {
			member := bytes.TrimLeft(b[start:dec.InputOffset()], ", \t\r\n")
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, member...)
		}
	}
	return append(out, '}')
}
