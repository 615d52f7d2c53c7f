package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// strictly is the JSON format for small bodies, as RFC 8259 recommends it: no
// name twice in an object, and text in UTF-8. Otherwise, parsers that take the
// first of two values and parsers that take the last would see different
// requests. Half of a surrogate pair, such as \ud83d, is accepted: programs
// that cut text send that.
func strictly() huma.Format {
	f := huma.DefaultJSONFormat
	f.Unmarshal = func(data []byte, v any) error {
		if err := strict(data); err != nil {
			return err
		}
		return json.Unmarshal(data, v)
	}
	return f
}

// strict returns what is wrong with one JSON value.
func strict(data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("not valid UTF-8")
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true))
	if err := d.SkipValue(); err != nil {
		var wrong *jsontext.SyntacticError
		if errors.As(err, &wrong) && wrong.Err != nil {
			return fmt.Errorf("byte %d: %w", wrong.ByteOffset, wrong.Err)
		}
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected text after the body")
	}
	return nil
}
