package claudecode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein/interop/interoptest"
)

// A record is the part of a line that is counted, read by encoding/json.
type record struct {
	Type, UUID, RequestID string
	IsCompactSummary      bool
	IsSidechain           bool
	Message               struct {
		ID, Model string
		Content   json.RawMessage
		Usage     struct {
			Output int64 `json:"output_tokens"`
		}
	}
	Attachment struct{ Type string }
}

// objects returns the records of a file, and how many pieces are damaged.
func objects(data []byte) (rs []record, damaged int) {
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		text := strings.Trim(string(line), "\x00 \r\n")
		if strings.Contains(string(line), "\x00") || !strings.HasPrefix(text, "{") && text != "" || strings.Contains(text, "\xff") {
			damaged++
		}
		for strings.HasPrefix(text, "{") {
			var r record
			dec := json.NewDecoder(strings.NewReader(text))
			switch err := dec.Decode(&r); {
			case err == nil || errors.As(err, new(*json.UnmarshalTypeError)):
				rs = append(rs, r)
				text = text[dec.InputOffset():]
			default:
				damaged++
				next := strings.Index(text[1:], `{"parentUuid"`)
				if next < 0 {
					text = ""
					break
				}
				text = text[1+next:]
			}
		}
	}
	return rs, damaged
}

func count(_ testing.TB, _ string, data []byte) (s interoptest.FileTotals) {
	rs, damaged := objects(data)
	s.Damaged = damaged
	seen, output := map[string]bool{}, map[string]int64{}
	for _, r := range rs {
		if id := r.UUID + string(r.Message.Content); r.UUID != "" && r.Type == "user" && seen[id] {
			continue
		} else {
			seen[id] = true
		}
		switch {
		case r.Type == "assistant" && !seen[r.Message.ID]:
			s.Messages++
			seen[r.Message.ID] = r.Message.ID != ""
		case r.Type == "attachment" && r.Attachment.Type == "queued_command":
			s.Messages++
		case r.Type == "user" && !r.IsCompactSummary:
			s.Messages += users(r.Message.Content)
		}
		if r.Type == "assistant" && r.Message.Model != "<synthetic>" {
			k := r.Message.ID + "/" + r.RequestID
			output[k] = max(output[k], r.Message.Usage.Output)
		}
	}
	for _, n := range output {
		s.Output += n
	}
	return s
}

// users returns how many messages a user's content makes: tool results are one,
// anything else is another.
func users(content json.RawMessage) (n int) {
	var blocks []struct{ Type string }
	if json.Unmarshal(content, &blocks) != nil {
		return 1
	}
	results, other := 0, 0
	for _, b := range blocks {
		if b.Type == "tool_result" {
			results = 1
		} else {
			other = 1
		}
	}
	return max(1, results+other)
}
