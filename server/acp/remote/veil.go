package remote

import (
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
)

// mostHeld is how many bytes of a message wait for the end of their line.
const mostHeld = 64 << 10

// heldText is text of a message that waits for the end of its line: pieces of a secret
// would not look like one.
type heldText struct {
	at     updateCursor
	params json.RawMessage // of the last piece
	kind   string
	id     string
	text   strings.Builder
}

// veiled sends the params of an update without secrets, text line by line.
func (w *watching) veiled(at updateCursor, params json.RawMessage) {
	var p struct {
		Update struct {
			SessionUpdate, MessageID string
			Content                  json.RawMessage
		}
	}
	var c struct{ Type, Text string }
	err := json.Unmarshal(params, &p)
	u := &p.Update
	if err != nil || !strings.HasPrefix(u.SessionUpdate, "agent_") || json.Unmarshal(u.Content, &c) != nil || c.Type != "text" {
		w.flush()
		w.params(at, w.Redact.JSON(params))
		return
	}
	h := &w.held
	if h.kind != u.SessionUpdate || h.id != u.MessageID {
		w.flush()
	}
	h.at, h.params, h.kind, h.id = at, params, u.SessionUpdate, u.MessageID
	h.text.WriteString(c.Text)
	if strings.HasSuffix(c.Text, "\n") || h.text.Len() > mostHeld {
		w.flush()
	}
}

// flush sends the text that waits.
func (w *watching) flush() {
	h := &w.held
	if h.params == nil {
		return
	}
	var p map[string]json.RawMessage
	var u map[string]any
	_ = json.Unmarshal(h.params, &p)    // it was read before
	_ = json.Unmarshal(p["update"], &u) // likewise
	u["content"] = map[string]any{"type": "text", "text": w.Redact.Text(h.text.String())}
	p["update"] = skein.MustJSON(u)
	at := h.at
	w.held = heldText{}
	w.params(at, skein.MustJSON(p))
}
