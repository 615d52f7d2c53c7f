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
	"github.com/skein-dev/skein/internal/lines"
)

// JSON returns v as [skein.MustJSON] does. A long text in it is quoted when it is
// written: a session may be one long message. It panics if v cannot be JSON. A
// [lines.Rope] in v is a string.
func JSON(v any) lines.Rope { return jsonOf(v) }

// JSONLine returns v as JSON does, with a line feed.
func JSONLine(v any) lines.Rope {
	r := jsonOf(v)
	r.Append([]byte{'\n'})
	return r
}

// IndentedJSON is JSON with each member and element on a line of its own, indented
// by indent for each level.
func IndentedJSON(v any, indent string) lines.Rope { return jsonOf(v, jsontext.WithIndent(indent)) }

func jsonOf(v any, how ...json.Options) (r lines.Rope) {
	var around bytes.Buffer
	var left []leftOut
	leave := func(enc *jsontext.Encoder, text lines.Rope) error {
		err := enc.WriteToken(jsontext.String(""))
		left = append(left, leftOut{int(enc.OutputOffset()), text})
		return err
	}
	how = append(how, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(leave),
		json.MarshalToFunc(func(enc *jsontext.Encoder, t skein.Text) error { return leave(enc, lines.RopeOfText(string(t))) }),
		json.MarshalToFunc(func(enc *jsontext.Encoder, s string) error {
			if len(s) <= longMessage || !utf8.ValidString(s) {
				return errors.ErrUnsupported // written the ordinary way
			}
			return leave(enc, lines.RopeOfText(s))
		}),
	)))
	if err := json.MarshalWrite(&around, v, how...); err != nil {
		panic("interop: " + err.Error())
	}
	if len(left) == 0 {
		return lines.RopeOf(around.Bytes())
	}
	done := 0
	for _, t := range left {
		r.Append(around.Bytes()[done : t.end-len(`""`)])
		r.AppendQuoted(t.text, quoted)
		done = t.end
	}
	r.Append(around.Bytes()[done:])
	return r
}

// A leftOut is a text that replaces an empty string, which ends at end.
type leftOut struct {
	end  int
	text lines.Rope
}

// quoted is the [lines.Quote] of JSON.
func quoted(b, text []byte) []byte {
	n := len(b)
	b = skein.AppendQuoted(b, unsafe.String(unsafe.SliceData(text), len(text))) //nolint:gosec // it is only read
	return b[:n+copy(b[n:], b[n+1:len(b)-1])]
}
