package stored

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

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

// Replay yields the updates that show a session from its beginning. Errors are the
// Store's.
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
		for e, err := range Entries(ctx, from, id) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, u := range record.Replay(&e, s.Cwd, blob) {
				if !yield(u, nil) {
					return
				}
			}
		}
	}
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
