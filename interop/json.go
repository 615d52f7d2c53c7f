package interop

import (
	"bytes"
	"errors"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/skein-dev/skein"
)

// JSON returns v as [skein.MustJSON] does. A long text in it is copied only once, into
// the result, which has room for a line feed: a session may be one long message. It
// panics if v cannot be JSON.
func JSON(v any) []byte { return jsonOf(v) }

// JSONText is JSON as a string.
func JSONText(v any) string {
	b := jsonOf(v)
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // nobody else has b
}

// IndentedJSON is JSON with each member and element on a line of its own, indented
// by indent for each level.
func IndentedJSON(v any, indent string) []byte { return jsonOf(v, jsontext.WithIndent(indent)) }

func jsonOf(v any, how ...json.Options) []byte {
	var around bytes.Buffer
	var left []leftOut
	size := 1
	leave := func(enc *jsontext.Encoder, s string) error {
		err := enc.WriteToken(jsontext.String(""))
		left = append(left, leftOut{int(enc.OutputOffset()), s})
		size += skein.QuotedLen(s)
		return err
	}
	how = append(how, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(enc *jsontext.Encoder, t skein.Text) error { return leave(enc, string(t)) }),
		json.MarshalToFunc(func(enc *jsontext.Encoder, s string) error {
			if len(s) <= longMessage || !utf8.ValidString(s) {
				return errors.ErrUnsupported // written the ordinary way
			}
			return leave(enc, s)
		}),
	)))
	if err := json.MarshalWrite(&around, v, how...); err != nil {
		panic("interop: " + err.Error())
	}
	b, done := make([]byte, 0, around.Len()+size), 0
	for _, t := range left {
		b = skein.AppendQuoted(append(b, around.Bytes()[done:t.end-len(`""`)]...), t.text)
		done = t.end
	}
	return append(b, around.Bytes()[done:]...)
}

// A leftOut is a text that replaces an empty string, which ends at end.
type leftOut struct {
	end  int
	text string
}
