package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Read decodes the input of a call into to, a pointer to a struct. A field that
// the struct does not have is an error, so that a model which made up a name
// learns of it. Empty input counts as an empty object.
//
// The error is written for the model: it says what is wrong with which field.
func Read(input json.RawMessage, to any) error {
	if len(bytes.TrimSpace(input)) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("unexpected text after the object")
		}
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Errorf("input: %s is a %s, want a %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return fmt.Errorf("input: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
