package claudecode

import (
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A making is what becomes of one record.
type making struct {
	line
	body   []byte
	run    bool // see interop.Line
	time   skein.Time
	thread *thread
	calls  *callIndex
	blobs  []skein.Blob // of the next item
	out    interop.Made
}

// last returns the item that was added last.
func (m *making) last() *interop.Item { return &m.out.Items[len(m.out.Items)-1] }

// steps reports whether m is a step of the conversation.
func (m *making) steps() bool {
	return m.Type == "user" || m.Type == "assistant" || m.Attachment.Type == "queued_command"
}

// rich returns what is kept of a tool's rich result.
func (m *making) rich() (f toolUseResult) {
	if m.ToolUseResult.Kind() == '{' {
		_ = jsonv2.Unmarshal(m.ToolUseResult, &f, options()) // a value that does not fit is ignored
	}
	return f
}

// clip shortens a name that comes from a file.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 64)], "") }
