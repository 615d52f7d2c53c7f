package stored

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/wire"
	"github.com/skein-dev/skein/store/lenient"
)

// window is how many events are read at once.
const window = 500

// Entries yields the live messages of a session, in order. Errors are the Store's.
func Entries(ctx context.Context, from skein.Store, id skein.SessionID) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		store := lenient.Store(from, nil) // what is damaged is shown as damaged
		s, err := store.Session(ctx, id)
		if err != nil {
			yield(skein.Entry{}, err)
			return
		}
		for after := skein.Seq(0); after < s.Last; after += window {
			found, err := store.Newest(ctx, id, window, after+window+1)
			if err != nil {
				yield(skein.Entry{}, err)
				return
			}
			for _, e := range found {
				if e.Seq > after && !e.Rewound && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Replay yields the updates that show a session from its beginning. A call without a
// result, because its program died, is shown as failed: nothing will come of it any more.
// Errors are the Store's.
func Replay(ctx context.Context, from skein.Store, id skein.SessionID) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		blob := func(h skein.Hash) []byte {
			b, _ := from.Blob(ctx, id, h) //nolint:errcheck // what cannot be read is shown empty
			return b
		}
		s, err := from.Session(ctx, id)
		if err != nil {
			yield(nil, err)
			return
		}
		var open []string // calls without a result
		for e, err := range Entries(ctx, from, id) {
			if err != nil {
				yield(nil, err)
				return
			}
			open = stillOpen(open, &e.Message)
			for _, u := range record.Replay(&e, s.Cwd, blob) {
				if !yield(u, nil) {
					return
				}
			}
		}
		for _, call := range open {
			if !yield(Unfinished(call), nil) {
				return
			}
		}
	}
}

// stillOpen returns the calls that have no result after a message.
func stillOpen(open []string, m *skein.Message) []string {
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			open = append(open, p.Call.ID)
		case p.Result != nil:
			open = slices.DeleteFunc(open, func(id string) bool { return id == p.Result.CallID })
		}
	}
	return open
}

// Unfinished returns the update that shows that a call will have no result.
func Unfinished(call string) json.RawMessage {
	return skein.MustJSON(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "failed"})
}

// Update returns the line that shows an update of a session.
func Update(id skein.SessionID, u []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`+"\n", wire.Quote(string(id)), u)
}

// A SessionNotice is what a person is told about a session, beside what is said in it.
type SessionNotice struct {
	Severity string // warning, info or error
	Title    string
	Text     string // "" for no more than the title
	Shown    bool   // the editor shows notices
}

// Update returns a notice as an update: as a notice, if the editor shows those, else as
// a message of the agent's that says who it is from.
func (n SessionNotice) Update() json.RawMessage {
	if n.Shown {
		u := map[string]any{"sessionUpdate": "notice", "severity": n.Severity, "title": "skein: " + n.Title}
		if n.Text != "" {
			u["description"] = n.Text
		}
		return skein.MustJSON(u)
	}
	text := n.Title
	if n.Text != "" {
		text += ": " + n.Text
	}
	return skein.MustJSON(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": "[skein: " + text + "]\n\n"}})
}
