package interoptest_test

import (
	"bytes"
	"encoding/json"
	"errors"
)

// A row is what this test's own, small parser finds in a line of either
// format.
type row struct {
	Type, UUID        string
	ParentUUID        *string
	LogicalParentUUID string
	IsSidechain       bool
	RequestID         string
	Message           struct {
		ID, Model string
		Content   json.RawMessage
		Usage     struct {
			Output int64 `json:"output_tokens"`
		}
	}
	Payload struct {
		Type, Role string
		Content    json.RawMessage
	}
}

// rows returns the objects of a file, and how many lines end in something that
// is not an object.
func rows(data []byte) (rs []row, damaged int) {
	for line := range bytes.Lines(data) {
		dec := json.NewDecoder(bytes.NewReader(line))
		for dec.More() {
			var r row
			if err := dec.Decode(&r); err != nil {
				if !errors.As(err, new(*json.UnmarshalTypeError)) {
					damaged++
					break
				}
			}
			rs = append(rs, r)
		}
	}
	return rs, damaged
}

// texts returns the texts in a message's content.
func texts(content json.RawMessage) (all []string) {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return []string{s}
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) == nil {
		for _, b := range blocks {
			if b.Text != "" {
				all = append(all, b.Text)
			}
		}
	}
	return all
}
