package codex

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// The generations differ only in the envelope. A line of the first, up to August
// 2025, is the item itself; since then it is wrapped.
const (
	typeMeta    = "session_meta"
	typeItem    = "response_item"
	typeEvent   = "event_msg"
	typeContext = "turn_context"
	typeCompact = "compacted"
	typeAgents  = "inter_agent_communication"
	typeState   = "state"
)

// A line is a record without its envelope.
type line struct {
	Time    skein.Time     // 0 in the first generation, or if the stamp is invalid
	Type    string         // session_meta, response_item, event_msg, turn_context, compacted, …
	Sub     string         // payload's own type; "" if it has none
	Payload jsontext.Value // unchanged in the record; the record itself if there is no envelope
	Bare    bool           // there was no envelope
	Run     bool           // see interop.Line
}

// envelope has the fields of both generations' lines.
type envelope struct {
	Timestamp  jsontext.Value `json:"timestamp"`
	Type       jsontext.Value `json:"type"`
	Payload    jsontext.Value `json:"payload"`
	ID         jsontext.Value `json:"id"`
	RecordType jsontext.Value `json:"record_type"`
}

// unmarshal reads b as T, a struct with only the members that are used.
func unmarshal[T any](b []byte) (v T, err error) {
	err = json.Unmarshal(b, &v, loose.Options())
	return v, err
}

var errNoObject = errors.New("it is not a JSON object")

// split removes the envelope of a record, which is one JSON value.
func split(body []byte) (line, error) {
	if len(body) == 0 || body[0] != '{' {
		return line{}, errNoObject
	}
	env, err := unmarshal[envelope](body)
	if err != nil {
		return line{}, plain(err)
	}
	l := line{Time: loose.Stamp(env.Timestamp), Type: loose.Str(env.Type), Payload: env.Payload}
	switch {
	case env.Payload != nil:
		if l.Payload[0] == '{' {
			l.Sub = subtype(l.Payload)
		}
		return l, nil
	case l.Type == typeCompact || l.Type == typeMeta || l.Type == typeContext || l.Type == typeEvent || l.Type == typeItem:
		return l, fmt.Errorf("a line of type %q without a payload", l.Type)
	}
	return bare(l, env, body), nil
}

// bare reads a line of the first generation: the meta has an ID and a time
// but no type, items have a type.
func bare(l line, env envelope, body []byte) line {
	l.Payload, l.Bare = body, true
	switch {
	case l.Type != "":
		l.Type, l.Sub = typeItem, l.Type
	case len(env.RecordType) > 0:
		l.Type = loose.Str(env.RecordType)
	case len(env.ID) > 0 && len(env.Timestamp) > 0:
		l.Type = typeMeta
	}
	return l
}

func subtype(payload []byte) string {
	t, err := unmarshal[struct {
		Type jsontext.Value `json:"type"`
	}](payload)
	if err != nil {
		return ""
	}
	return loose.Str(t.Type)
}

// plain rewords err without naming Go types.
func plain(err error) error {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		return fmt.Errorf("invalid JSON at byte %d: %w", syntax.ByteOffset, syntax.Err)
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		return fmt.Errorf("%s is a JSON %s", semantic.JSONPointer, semantic.JSONKind)
	}
	return err
}
