package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// A Transcript writes one Claude Code session, a line at a time, into a buffer:
// prompts, answers in chunks with one message ID, tool calls, and their results
// with the copy that the program stores with them.
type Transcript struct {
	*Words
	ID  string // of the session
	Cwd string

	buf    bytes.Buffer
	parent string
	clock  time.Time
	ctx    int // tokens in the cache
}

// object is a JSON object whose fields keep their order.
type object []any // name, value, name, value, …

// MarshalJSON implements [json.Marshaler]; errors are those of the values.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), o[i].(string)...), '"', ':')
		v, err := encode(o[i+1])
		if err != nil {
			return nil, err
		}
		b = append(b, v...)
	}
	return append(b, '}'), nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// NewTranscript returns an empty session generated from seed.
func NewTranscript(seed uint64) *Transcript {
	t := &Transcript{Words: NewWords(seed), clock: time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC), ctx: 12_000}
	t.clock = t.clock.Add(time.Duration(t.r.IntN(300*24)) * time.Hour)
	t.ID = t.uuid()
	t.Cwd = fmt.Sprintf("/home/ada/%s", t.Rank(40+t.r.IntN(60)))
	return t
}

func (t *Transcript) uuid() string {
	h := t.Hex(16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// Bytes returns what was written so far.
func (t *Transcript) Bytes() []byte { return t.buf.Bytes() }

// line adds a line of the parent chain: its own fields between those that every
// line has.
func (t *Transcript) line(own ...any) {
	t.clock = t.clock.Add(time.Duration(200+t.r.IntN(20_000)) * time.Millisecond)
	var parent any
	if t.parent != "" {
		parent = t.parent
	}
	o := object{
		"parentUuid", parent, "isSidechain", false, "userType", "external", "cwd", t.Cwd, "sessionId", t.ID,
		"version", "2.0.55", "gitBranch", "main",
	}
	t.parent = t.uuid()
	o = append(append(o, own...), "uuid", t.parent, "timestamp", t.clock.Format("2006-01-02T15:04:05.000Z"))
	b, err := o.MarshalJSON()
	if err != nil {
		panic("gen: " + err.Error()) // it consists of strings and numbers
	}
	t.buf.Write(append(b, '\n'))
}

// Ask adds what a person typed.
func (t *Transcript) Ask(prompt string) {
	t.line("type", "user", "message", object{"role", "user", "content", prompt})
}

// answer adds the lines of one model request: one per block, with one message
// ID and a usage that grows.
func (t *Transcript) answer(stop string, blocks ...object) {
	id, request := "msg_01"+t.Hex(11), "req_011C"+t.Hex(10)
	t.ctx += 400 + t.r.IntN(900)
	for i, b := range blocks {
		var reason any
		if i == len(blocks)-1 {
			reason = stop
		}
		usage := object{
			"input_tokens", 4, "cache_creation_input_tokens", 500, "cache_read_input_tokens", t.ctx,
			"output_tokens", 9 + 120*i, "service_tier", "standard",
		}
		t.line("message", object{
			"model", "claude-sonnet-4-5-20250929", "id", id, "type", "message", "role", "assistant",
			"content",
			[]object{b},
			"stop_reason", reason, "stop_sequence", nil, "usage", usage,
		}, "requestId", request, "type", "assistant")
	}
}

func text(s string) object { return object{"type", "text", "text", s} }
