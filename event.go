package skein

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"iter"
	"unsafe"
)

// A Kind says what happened. The names are stored: they never change.
type Kind string

// The kinds of event, and the type of each one's payload. A store keeps events
// of kinds it does not know unchanged.
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

// MaxPayload is the longest payload that a Store accepts, in bytes: enough for
// a message of 64 MB in which every byte needs a two-byte escape.
const MaxPayload = 160 << 20

// An Event is one thing that happened in a session. Events are never changed
// and never reordered once a [Store] has accepted them.
//
// The payload is JSON and is kept byte for byte, including fields that this
// version does not know. Make events with [NewEvent]; read payloads with
// [Decode].
type Event struct {
	Seq      Seq  // assigned by the Store; ignored by Append
	Time     Time // by the writer's clock, informative only; 0 if not known
	Kind     Kind
	ClientID ClientID        // "" for none
	Payload  json.RawMessage // a JSON object of the kind's type, at most MaxPayload bytes
}

// NewEvent returns an event with v as its payload. v is the kind's type, or a
// pointer to it. It panics if v cannot be marshaled, which is the caller's mistake.
func NewEvent(kind Kind, t Time, v any) Event {
	return Event{Kind: kind, Time: t, Payload: MustJSON(v)}
}

// Say returns the event that m was said at t.
func Say(t Time, m Message) Event { return NewEvent(KindSaid, t, m) }

// Decode reads the payload of e as T, which is the type of e's kind.
//
// The error wraps [ErrInvalid] and names seq and kind.
func Decode[T any](e Event) (v T, err error) {
	if m, is := any(&v).(*Message); is {
		if said, ok := decodeMessage(e.Payload); ok {
			*m = said
			return v, nil
		}
	}
	if err := json.Unmarshal(e.Payload, &v); err != nil {
		return v, Invalidf("event %d of kind %q: payload: %v", e.Seq, e.Kind, err)
	}
	return v, nil
}

// MustJSON returns v as JSON without the HTML escapes of [json.Marshal]. It
// panics if v cannot be marshaled.
func MustJSON(v any) json.RawMessage {
	if m, ok := v.(Message); ok {
		if !m.long() {
			return m.appendJSON(make([]byte, 0, 256))
		}
		return m.JSONWith(&m)
	}
	return mustJSON(v)
}

func mustJSON(v any) json.RawMessage {
	b, err := marshal(v)
	if err != nil {
		panic("skein: " + err.Error())
	}
	return b
}

// marshal returns v as JSON without the HTML escapes of [json.Marshal].
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// JSONPieces yields v as JSON without HTML escapes, piece by piece: the long text of
// an event or an entry, which v may be or contain, is never copied whole. A piece is
// valid until the next one. The error is that of encoding/json.
func JSONPieces(v any) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if e, ok := v.(Event); ok && len(e.Payload) >= longText && json.Valid(e.Payload) && !bytes.ContainsAny(e.Payload, "\r\n") {
			payload := e.Payload
			e.Payload = json.RawMessage("0")
			rest, err := marshal(eventJSON(e))
			_ = yield(bytes.TrimSuffix(rest, []byte("0}")), err) && yield(payload, nil) && yield([]byte("}"), nil)
			return
		}
		var rest [][]byte
		var texts []string
		var err error
		if x, ok := v.(interface{ said() *Message }); ok {
			rest, texts, err = x.said().jsonAround(v)
		} else {
			var whole []byte
			whole, err = marshal(v)
			rest = [][]byte{whole}
		}
		if !yield(rest[0], err) {
			return
		}
		for i, t := range texts {
			for piece := range quotedPieces(t) {
				if !yield(piece, nil) {
					return
				}
			}
			if !yield(rest[i+1], nil) {
				return
			}
		}
	}
}

// housekeeping reports whether e is not part of the session's work: it only sets
// what the session is called or belongs to, or says who opened it.
func (e *Event) housekeeping() bool {
	switch e.Kind {
	case KindTitled, KindChanged, KindResumed, KindEnded:
		return true
	}
	return e.Scrubbed()
}

// Scrubbed reports whether e is the note that [Lifecycle.Scrub] leaves.
func (e *Event) Scrubbed() bool {
	if e.Kind != KindNoted || !bytes.Contains(e.Payload, []byte("scrubbed")) {
		return false
	}
	n, err := Decode[Noted](*e)
	return err == nil && n.Name == "scrubbed"
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum returns the checksum that a store keeps with e, which covers e and what the
// store keeps beside it: CRC-32C over seq, time, and length of kind, client ID and
// payload (each 8 bytes, little endian), then kind, client ID, payload and beside.
func (e *Event) Sum(beside string) uint32 {
	head := make([]byte, 0, 128)
	for _, n := range []int64{int64(e.Seq), int64(e.Time), int64(len(e.Kind)), int64(len(e.ClientID)), int64(len(e.Payload))} {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	head = append(append(head, e.Kind...), e.ClientID...)
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, e.Payload)
	// beside is only read: copying it would cost several times the checksum.
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
// client_id (if any) and payload, in this order. The error says that the payload
// is invalid JSON.
func (e Event) MarshalJSON() ([]byte, error) {
	return marshal(eventJSON(e))
}

// UnmarshalJSON implements [json.Unmarshaler]; errors are those of
// [json.Unmarshal].
func (e *Event) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, (*eventJSON)(e))
}

// Created is the payload of a session's own first event.
type Created struct {
	Key      string          `json:"key,omitempty"` // natural name; "" for none; never set on a fork
	Title    string          `json:"title,omitempty"`
	User     User            `json:"user,omitempty"`    // "" is Local, or the user of the Store's view
	Surface  string          `json:"surface,omitempty"` // cli, telegram, api, import, …
	Project  string          `json:"project,omitempty"` // absolute path of the git root, else the directory
	Cwd      string          `json:"cwd,omitempty"`     // absolute path
	Checkout *Checkout       `json:"checkout,omitempty"`
	Agent    string          `json:"agent,omitempty"` // program or agent definition that answers: claude-code, codex, reviewer
	Profile  string          `json:"profile,omitempty"`
	Provider string          `json:"provider,omitempty"`
	Model    string          `json:"model,omitempty"`
	Parent   *Parent         `json:"parent,omitempty"`
	Origin   *Origin         `json:"origin,omitempty"` // nil if it began here
	Config   json.RawMessage `json:"config,omitempty"`
	Program  string          `json:"program,omitempty"` // what wrote it: skein, claude-code
	Version  string          `json:"version,omitempty"` // of that program
}

// Why says how a session is related to its parent.
type Why string

// The reasons for a parent. Only a Fork shows the parent's events as its own.
const (
	Fork         Why = "fork"
	Child        Why = "child"
	Continuation Why = "continuation"
)

// A Parent is where a session came from.
type Parent struct {
	Session SessionID `json:"session"`
	Seq     Seq       `json:"seq,omitempty"` // Fork: the last event of the parent that is shown, 1 or more; else where it began, 0 if not known
	Why     Why       `json:"why"`
	Call    string    `json:"call,omitempty"` // Child: ID of the parent's tool call; "" if not known
}

// IsFork reports whether p, which may be nil, is the parent of a fork.
func (p *Parent) IsFork() bool { return p != nil && p.Why == Fork }

// An Origin is the program and file that an imported session came from.
type Origin struct {
	Format  string `json:"format"`            // claude-code, codex, …: the name of an interop format
	Path    string `json:"path,omitempty"`    // file it was read from
	ID      string `json:"id,omitempty"`      // session's ID in that program
	Version string `json:"version,omitempty"` // of that program
}

// CallState is how far a tool call has come.
type CallState string

// The states of a tool call. Uncertain: it was running when its program died,
// so nobody knows whether it took effect.
const (
	Pending   CallState = "pending"
	Running   CallState = "running"
	Completed CallState = "completed"
	Failed    CallState = "error"
	Uncertain CallState = "uncertain"
)

// Unanswered returns what a model is told in place of the result of a call in the
// state s, which has none.
func (s CallState) Unanswered() Text {
	switch s {
	case Pending:
		return "[Interrupted before the tool ran: it has not taken effect.]"
	case Completed:
		return "[The tool ran to its end, but its result was not kept.]"
	case Failed:
		return "[The tool failed; what it said was not kept.]"
	}
	return "[Interrupted: there is no result, and it is unknown whether the tool took effect.]"
}

// ToolState is the payload of a tool event. The call's input is stored only in
// its Call part, and its output only in its Result part.
type ToolState struct {
	Call  string          `json:"call"` // ID of the Call part
	State CallState       `json:"state"`
	Title string          `json:"title,omitempty"`
	Ask   string          `json:"ask,omitempty"` // Pending: what a person is asked before the call may run
	Start Time            `json:"start,omitzero"`
	End   Time            `json:"end,omitzero"`
	Child SessionID       `json:"child,omitempty"` // session that the call started
	Safe  bool            `json:"safe,omitempty"`  // it may be run again without harm
	Meta  json.RawMessage `json:"meta,omitempty"`
}

// A Step is the payload of a step event: the start or finish of one model
// request.
type Step struct {
	Phase    string     `json:"phase"` // start or finish
	Mode     string     `json:"mode,omitempty"`
	Prompt   string     `json:"prompt,omitempty"`  // SHA-256 of the system prompt, hexadecimal
	Tools    string     `json:"tools,omitempty"`   // SHA-256 of the tool list, hexadecimal
	Config   string     `json:"config,omitempty"`  // SHA-256 of what the agent was allowed, as in Created, which may be edited between two starts
	Kept     bool       `json:"kept,omitempty"`    // Prompt, Tools and Config are blobs of the store
	Request  string     `json:"request,omitempty"` // provider request ID: usage with the same one is counted once
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	Tier     string     `json:"tier,omitempty"` // as [ServiceTier]; "" for the usual one
	Usage    *Usage     `json:"usage,omitempty"`
	Several  bool       `json:"several,omitempty"` // Usage is of several requests, of whose prompts nothing is known
	Stop     string     `json:"stop,omitempty"`
	Error    *ErrorInfo `json:"error,omitempty"`
	Attempt  int        `json:"attempt,omitempty"` // 1 for the first
}

// By says who gave a title. A title is replaced only by one of the same or a
// higher rank: person above model above source.
type By string

// Who can give a title.
const (
	ByPerson By = "person"
	ByModel  By = "model"
	BySource By = "source" // a summary that another program stored, or first words
)

// Titled is the payload of a titled event.
type Titled struct {
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	By          By     `json:"by"`
}

// Changed is the payload of a changed event: the fields that were set, and their
// new values. A nil field was not changed.
type Changed struct {
	Key      *string   `json:"key,omitempty"` // "" takes the key away
	Model    *string   `json:"model,omitempty"`
	Provider *string   `json:"provider,omitempty"`
	Agent    *string   `json:"agent,omitempty"`
	Profile  *string   `json:"profile,omitempty"`
	Project  *string   `json:"project,omitempty"`
	Cwd      *string   `json:"cwd,omitempty"`
	Checkout *Checkout `json:"checkout,omitempty"` // replaces all of it, but what was looked up
	Pinned   *bool     `json:"pinned,omitempty"`
	Status   *string   `json:"status,omitempty"`
	Tags     *[]string `json:"tags,omitempty"` // all of them
	Gone     *Time     `json:"gone,omitempty"` // when its source was found to be gone; 0: it is there again

	Config *json.RawMessage `json:"config,omitempty"` // as in Created, of the agent that answers from now on
}

// Compacted is the payload of a compacted event.
type Compacted struct {
	To      Seq             `json:"to"`                // covers the events up to this seq
	Summary string          `json:"summary,omitempty"` // replaces them
	Keep    []Seq           `json:"keep,omitempty"`    // user messages among those events that are kept word for word before the summary: the seq of each one's first event
	Opaque  json.RawMessage `json:"opaque,omitempty"`  // a provider's own item in place of a summary
	Before  int64           `json:"before,omitempty"`  // tokens before; 0 if not known
	After   int64           `json:"after,omitempty"`   // tokens after; 0 if not known
	Trigger string          `json:"trigger,omitempty"` // auto, manual
	Failed  bool            `json:"failed,omitempty"`  // the attempt produced no summary; it covers nothing
}

// Rewound is the payload of a rewound event. The context is then exactly what
// it was right after To; a To later than the event rewound over is a redo.
type Rewound struct {
	To Seq `json:"to"` // 0 for the empty context
}

// Program is the payload of resumed and ended events.
type Program struct {
	Program string `json:"program,omitempty"`
	Version string `json:"version,omitempty"`
	Host    string `json:"host,omitempty"`
	How     string `json:"how,omitempty"` // how it ended: done, interrupted, error, …
}

// Amended is the payload of an amended event: a source record that its own
// program changed or removed after it was read.
type Amended struct {
	Seq       Seq             `json:"seq"`                 // the event that is amended
	Withdrawn bool            `json:"withdrawn,omitempty"` // the event is gone
	Payload   json.RawMessage `json:"payload,omitempty"`   // the new payload, of the same kind
}

// Noted is the payload of a noted event: anything else, kept whole.
type Noted struct {
	Name  string          `json:"name"`            // such as claude-code:progress, log, hook
	Level string          `json:"level,omitempty"` // debug, info, warning, error
	Data  json.RawMessage `json:"data,omitempty"`
}

// An Entry is a message as people and programs read it: its pieces put together,
// its amendments applied.
type Entry struct {
	Seq       Seq     `json:"seq"`            // of its first event
	End       Seq     `json:"end"`            // of its last event; the same if it has one
	Time      Time    `json:"time"`           // of its first event
	Turn      int     `json:"turn,omitempty"` // 0 before the first
	Message   Message `json:"message"`
	Rewound   bool    `json:"rewound,omitempty"`
	Compacted bool    `json:"compacted,omitempty"` // it is covered by the newest compaction
	Damaged   bool    `json:"damaged,omitempty"`   // it stands in for one that cannot be read as it was written, and says why
}

// said returns the message of e, or of what contains e.
func (e *Entry) said() *Message { return &e.Message }
