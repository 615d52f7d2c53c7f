package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// maxNest is how deeply nested JSON may be for encoding/json to read it.
const maxNest = 9000

// AppendEvent appends e as JSON to b: {"seq","time","kind","client_id",
// "payload"}, with the payload byte for byte. A payload that not every JSON
// parser reads is sent as payload64 instead, its bytes in base64.
func AppendEvent(b []byte, e skein.Event) []byte {
	for piece := range EventPieces(b, e) {
		b = append(b, piece...)
	}
	return b
}

// EventPieces yields what [AppendEvent] appends, piece by piece: a payload, which may
// be long, is not copied. A piece is valid until the next one; b is where the short
// ones are made.
func EventPieces(b []byte, e skein.Event) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		n := len(b)
		head := appendHead(b, e)
		if !plain(e.Payload) {
			head = append(head, `,"payload64":"`...)
			_ = yield(append(base64.StdEncoding.AppendEncode(head, e.Payload), `"}`...)[n:])
			return
		}
		_ = yield(append(head, `,"payload":`...)[n:]) && yield(e.Payload) && yield([]byte("}"))
	}
}

// appendHead appends what comes before the payload of e.
func appendHead(b []byte, e skein.Event) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, int64(e.Seq), 10)
	b = append(append(b, `,"time":`...), skein.MustJSON(e.Time)...)
	b = skein.AppendQuoted(append(b, `,"kind":`...), string(e.Kind))
	if e.ClientID != "" {
		b = skein.AppendQuoted(append(b, `,"client_id":`...), string(e.ClientID))
	}
	if e.IsPlaceholder() {
		b = append(b, `,"damaged":true`...)
	}
	return b
}

// plain reports whether a payload can be sent as it is: an object, on one line
// as SSE wants it, not nested too deeply.
func plain(p []byte) bool {
	if len(p) == 0 || p[0] != '{' || p[len(p)-1] != '}' || !utf8.Valid(p) || bytes.ContainsAny(p, "\r\n") {
		return false
	}
	depth, deepest := 0, 0
	for _, c := range p { // brackets in strings count too: that only errs on the safe side
		switch c {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest <= maxNest
}

// An Event is a [skein.Event] decoded from JSON.
type Event struct{ skein.Event }

type eventJSON struct {
	Seq       skein.Seq       `json:"seq"`
	Time      anyTime         `json:"time"`
	Kind      skein.Kind      `json:"kind"`
	ClientID  skein.ClientID  `json:"client_id"`
	Payload   json.RawMessage `json:"payload"`
	Payload64 []byte          `json:"payload64"`
}

// anyTime is a time that is read as it was written: the first moment of year 1
// is that moment, and not an unknown time.
type anyTime skein.Time

const yearOne anyTime = -62135596800000

// UnmarshalText implements [encoding.TextUnmarshaler]; its errors are those of
// [skein.ParseTime].
func (t *anyTime) UnmarshalText(b []byte) error {
	if string(b) == skein.Time(yearOne).String() {
		*t = yearOne
		return nil
	}
	return (*skein.Time)(t).UnmarshalText(b)
}

// UnmarshalJSON implements [json.Unmarshaler]; errors say what is wrong.
func (e *Event) UnmarshalJSON(b []byte) error {
	var in eventJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Payload64 != nil {
		in.Payload = in.Payload64
	}
	if len(in.Payload) == 0 {
		return fmt.Errorf("event of kind %q without a payload", in.Kind)
	}
	e.Event = skein.Event{Seq: in.Seq, Time: skein.Time(in.Time), Kind: in.Kind, ClientID: in.ClientID, Payload: in.Payload}
	return nil
}

// MarshalJSON always fails: encoding/json would change the payload's bytes. The
// error says to use [AppendEvent].
func (e Event) MarshalJSON() ([]byte, error) {
	return nil, fmt.Errorf("event %d: write it with AppendEvent", e.Seq)
}

// AppendEvents appends events as a JSON array to b.
func AppendEvents(b []byte, evs []skein.Event) []byte {
	b = append(b, '[')
	for i, e := range evs {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendEvent(b, e)
	}
	return append(b, ']')
}
