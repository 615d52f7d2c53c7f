package replay

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

const (
	name    = "replay"
	version = 1

	// MaxBlob is the longest blob that a log holds, in bytes.
	MaxBlob = 1 << 30

	chunk    = 768 << 10 // bytes of a blob in one line
	maxLine  = skein.MaxPayload/3*4 + 64<<10
	maxDepth = 10_000 // of a line, the limit of encoding/json
	maxPlain = 9_000  // brackets in a payload that is written unchanged
)

// A Header begins the events of a session in a log.
type Header struct {
	Session skein.SessionID
	First   skein.Seq       // seq of the first event that follows
	Last    skein.Seq       // seq of the last; 0 while the log still grows
	For     skein.SessionID // the fork that shows these events; "" for the session's own log
}

// appendHead appends the line of h to b.
func appendHead(b []byte, h Header) []byte {
	b = fmt.Appendf(b, `{"skein":%q,"version":%d,"session":`, name, version)
	b = skein.AppendQuoted(b, string(h.Session))
	b = fmt.Appendf(b, `,"first":%d`, h.First)
	if h.Last > 0 {
		b = fmt.Appendf(b, `,"last":%d`, h.Last)
	}
	if h.For != "" {
		b = skein.AppendQuoted(append(b, `,"for":`...), string(h.For))
	}
	return append(b, '}', '\n')
}

// appendEvent appends the line of e to b; e is a placeholder if damaged is not "". The
// error wraps ErrInvalid.
func appendEvent(b []byte, e skein.Event, damaged string) ([]byte, error) {
	at, err := e.Time.MarshalText()
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	b = strconv.AppendInt(append(b, `{"seq":`...), int64(e.Seq), 10)
	b = skein.AppendQuoted(append(b, `,"time":`...), string(at))
	b = skein.AppendQuoted(append(b, `,"kind":`...), string(e.Kind))
	if e.ClientID != "" {
		b = skein.AppendQuoted(append(b, `,"client_id":`...), string(e.ClientID))
	}
	if damaged != "" {
		b = skein.AppendQuoted(append(b, `,"damaged":`...), damaged)
	}
	if plain(e.Payload) {
		b = append(append(b, `,"payload":`...), e.Payload...)
	} else {
		b = append(b, `,"payload64":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, e.Payload), '"')
	}
	return append(b, '}', '\n'), nil
}

// plain reports whether a payload can be written on a line unchanged.
func plain(p []byte) bool {
	return !bytes.ContainsAny(p, "\n\r") && utf8.Valid(p) &&
		bytes.HasPrefix(p, []byte("{")) && bytes.HasSuffix(p, []byte("}")) &&
		bytes.Count(p, []byte("{"))+bytes.Count(p, []byte("[")) <= maxPlain
}

// appendPiece appends the line of the piece of data that begins at from.
func appendPiece(b []byte, h skein.Hash, data []byte, from int) []byte {
	b = skein.AppendQuoted(append(b, `{"blob":`...), string(h))
	b = fmt.Appendf(b, `,"size":%d,"at":%d,"data":"`, len(data), from)
	b = base64.StdEncoding.AppendEncode(b, data[from:min(len(data), from+chunk)])
	return append(b, `"}`+"\n"...)
}

// anyLine is any line.
type anyLine struct {
	Skein   *string         `json:"skein"`
	Version int             `json:"version"`
	Session skein.SessionID `json:"session"`
	First   skein.Seq       `json:"first"`
	Last    skein.Seq       `json:"last"`
	For     skein.SessionID `json:"for"`

	Seq       *skein.Seq      `json:"seq"`
	Time      skein.Time      `json:"time"`
	Kind      skein.Kind      `json:"kind"`
	ClientID  skein.ClientID  `json:"client_id"`
	Damaged   string          `json:"damaged"`
	Payload   json.RawMessage `json:"payload"`
	Payload64 []byte          `json:"payload64"`

	Blob *skein.Hash `json:"blob"`
	Size int64       `json:"size"`
	At   int64       `json:"at"`
	Data []byte      `json:"data"`
}

// Match reports whether a file that begins with head is likely a log. head
// need not be more than the first line.
func Match(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	rest, ok2 := bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(`"skein"`))
	rest, ok3 := bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(":"))
	return ok && ok2 && ok3 && bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte(`"`+name+`"`))
}
