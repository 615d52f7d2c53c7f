package stored

import (
	"encoding/json"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/record"
)

// A Request is the params of a request about sessions.
type Request struct {
	SessionID  string          `json:"sessionId"`
	Cwd        string          `json:"cwd"`
	McpServers json.RawMessage `json:"mcpServers"`
	Cursor     string          `json:"cursor"`
	Title      string          `json:"title"`
	Meta       struct {
		Skein struct {
			MessageID string    `json:"messageId"` // fork after this message
			Seq       skein.Seq `json:"seq"`       // fork after this event
			TakeOver  bool      `json:"takeOver"`  // end the lease of another editor
		} `json:"skein"`
	} `json:"_meta"`
}

// ForkAt returns the seq after which a fork of a session branches off, and whether that
// is the session's end.
func (r *Request) ForkAt(s *skein.Session) (at skein.Seq, whole bool) {
	if seq, ok := record.Seq(r.Meta.Skein.MessageID); ok {
		return seq, false
	}
	if r.Meta.Skein.Seq > 0 {
		return r.Meta.Skein.Seq, false
	}
	return s.Last, true
}

// The codes of errors.
const (
	InvalidParams = -32602
	Internal      = -32603
	NotFound      = -32002 // a session, or another resource
)

// Code returns the protocol's code for an error.
func Code(err error) int {
	switch {
	case errors.Is(err, skein.ErrNotFound):
		return NotFound
	case errors.Is(err, skein.ErrInvalid):
		return InvalidParams
	}
	return Internal
}
