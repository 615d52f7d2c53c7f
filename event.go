package skein

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"unsafe"
)

// A Kind says what happened. The names are stored: they never change.
type Kind string

// The kinds of event, and the type of each one's payload. A store keeps events
// of kinds it does not know as they are.
const (
	KindCreated   Kind = "created"   // Created; the session's own first event, and no other
	KindSaid      Kind = "said"      // Message
	KindTool      Kind = "tool"      // ToolState
	KindStep      Kind = "step"      // Step
	KindTitled    Kind = "titled"    // Titled
	KindChanged   Kind = "changed"   // Changed
	KindCompacted Kind = "compacted" // Compacted
	KindRewound   Kind = "rewound"   // Rewound
	KindResumed   Kind = "resumed"   // Program
	KindEnded     Kind = "ended"     // Program
	KindAmended   Kind = "amended"   // Amended
	KindNoted     Kind = "noted"     // Noted
)

// MaxPayload is the longest payload that a Store takes, in bytes: enough for
// a message of 64 MB whose every byte needs an escape of two.
const MaxPayload = 160 << 20

// An Event is one thing that happened in a session. Events are never changed
// and never reordered once a [Store] has taken them.
//
// The payload is JSON and is kept byte for byte, with fields that this
// version does not know. Make events with [NewEvent]; read payloads with
// [Decode].
type Event struct {
	Seq      Seq  // given by the Store; ignored by Append
	Time     Time // by the writer's clock, informative only; 0 if not known
	Kind     Kind
	ClientID ClientID        // "" for none
	Payload  json.RawMessage // a JSON object of the kind's type, at most MaxPayload bytes
}

// NewEvent returns an event with v as its payload. v is the kind's type, or a
// pointer to it. It panics if v cannot be JSON, which is the caller's mistake.
func NewEvent(kind Kind, t Time, v any) Event {
	return Event{Kind: kind, Time: t, Payload: MustJSON(v)}
}

// Say returns the event that m was said at t.
func Say(t Time, m Message) Event { return NewEvent(KindSaid, t, m) }

// Decode reads the payload of e as T, which is the type of e's kind.
//
// The error wraps [ErrInvalid] and names seq and kind.
func Decode[T any](e Event) (v T, err error) {
	if err := json.Unmarshal(e.Payload, &v); err != nil {
		return v, invalidf("event %d of kind %q: payload: %v", e.Seq, e.Kind, err)
	}
	return v, nil
}

// MustJSON returns v as JSON without the escapes that [json.Marshal] puts in
// for HTML. It panics if v cannot be JSON.
func MustJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("skein: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// housekeeping reports whether e says nothing and does nothing in its session:
// it sets what the session is called or belongs to, or says who opened it.
func (e *Event) housekeeping() bool {
	switch e.Kind {
	case KindTitled, KindChanged, KindResumed, KindEnded:
		return true
	}
	return e.Scrubbed()
}

// Scrubbed reports whether e is the note that [Store.Scrub] leaves.
func (e *Event) Scrubbed() bool {
	if e.Kind != KindNoted || !bytes.Contains(e.Payload, []byte("scrubbed")) {
		return false
	}
	n, err := Decode[Noted](*e)
	return err == nil && n.Name == "scrubbed"
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum of e that a store keeps with it, and of what it keeps
// beside: CRC-32C over seq, time, and length of kind, client ID and payload
// (each 8 bytes, little endian), then kind, client ID, payload and beside.
func (e *Event) Sum(beside string) uint32 {
	head := make([]byte, 0, 128)
	for _, n := range []int64{int64(e.Seq), int64(e.Time), int64(len(e.Kind)), int64(len(e.ClientID)), int64(len(e.Payload))} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	head = append(append(head, e.Kind...), e.ClientID...)
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, e.Payload)
	// It is only read: a copy would cost several times what the checksum does.
	return crc32.Update(sum, castagnoli, unsafe.Slice(unsafe.StringData(beside), len(beside))) //nolint:gosec // see above
}

// eventJSON is the shape of an Event in JSON.
type eventJSON struct {
	Seq      Seq             `json:"seq,omitempty"`
	Time     Time            `json:"time"`
	Kind     Kind            `json:"kind"`
	ClientID ClientID        `json:"client_id,omitempty"`
	Payload  json.RawMessage `json:"payload"`
}

// MarshalJSON implements [json.Marshaler]: an object of seq, time, kind,
// client_id (if any) and payload, in this order. Errors are of invalid JSON in
// the payload.
func (e Event) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(eventJSON(e)); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// UnmarshalJSON implements [json.Unmarshaler]; errors are those of
// [json.Unmarshal].
func (e *Event) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, (*eventJSON)(e))
}
