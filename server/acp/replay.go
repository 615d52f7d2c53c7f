package acp

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/wire"
	"github.com/skein-dev/skein/store/lenient"
)

// window is how many events are read at once.
const window = 500

// entries yields the live messages of a session, in order.
func (r *relay) entries(ctx context.Context, id skein.SessionID) iter.Seq2[skein.Entry, error] {
	return func(yield func(skein.Entry, error) bool) {
		store := lenient.Store(r.o.Store, nil) // what is damaged is shown as damaged
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

// replay shows the editor what was said.
func (r *relay) replay(ctx context.Context, s *session) error {
	blob := func(h skein.Hash) []byte {
		b, _ := r.o.Store.Blob(ctx, s.outer, h) //nolint:errcheck // what cannot be read is shown empty
		return b
	}
	for e, err := range r.entries(ctx, s.outer) {
		if err != nil {
			return err
		}
		for _, u := range record.Replay(&e, blob) {
			s.toEditor.pass(update(s, u), nil)
		}
	}
	s.toEditor.idle() // the answer does not come before
	s.toEditor.mu.Unlock()
	return nil
}

func update(s *session, u []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`+"\n", wire.Quote(string(s.outer)), u)
}

// notice tells the editor what happened to a session: as a notice, if it shows those,
// else as a message of the agent's that says who it is from.
func (r *relay) notice(s *session, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n")
	u := map[string]any{"sessionUpdate": "notice", "severity": "warning", "title": "skein: " + title, "description": text}
	r.mu.Lock()
	shows := r.notices
	r.mu.Unlock()
	if !shows {
		u = map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": "[skein: " + title + ": " + text + "]\n\n"}}
	}
	s.notice = update(s, skein.MustJSON(u))
}

// mostContext limits what an agent is told of a session that it cannot load: the newest.
const mostContext = 200_000

// asText returns a session as text for a model; "" if nothing was said in it.
func (r *relay) asText(ctx context.Context, id skein.SessionID) (string, error) {
	var all []string
	size := 0
	for e, err := range r.entries(ctx, id) {
		if err != nil {
			return "", err
		}
		text := textOf(&e.Message)
		if text == "" {
			continue
		}
		all, size = append(all, text), size+len(text)
		for size > mostContext && len(all) > 1 {
			size -= len(all[0])
			all = all[1:]
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	return "<previous-conversation>\nThis conversation began in another session. What was said there:\n\n" +
		strings.Join(all, "\n\n") + "\n</previous-conversation>", nil
}

func textOf(m *skein.Message) string {
	var tools []string
	for _, p := range m.Parts {
		if p.Call != nil {
			tools = append(tools, fmt.Sprintf("[called %s %.300s]", p.Call.Name, p.Call.Input))
		}
	}
	text := strings.TrimSpace(m.Words() + "\n" + strings.Join(tools, "\n"))
	if text == "" || m.Role == skein.RoleSystem || m.Role == skein.RoleTool {
		return ""
	}
	return string(m.Role) + ": " + text
}

// withContext returns a prompt with a text before what the person said.
func withContext(line []byte, m *wire.Message, before string) []byte {
	params := m.Params.Of(line)
	prompt := wire.Member(params, "prompt")
	if len(prompt) == 0 || prompt[0] != '[' {
		return line
	}
	block := skein.MustJSON(map[string]any{"type": "text", "text": before})
	if rest := strings.TrimSpace(string(prompt[1:])); !strings.HasPrefix(rest, "]") {
		block = append(block, ',')
	}
	prompt = append(append([]byte("["), block...), prompt[1:]...)
	return wire.Apply(line, []wire.LineEdit{{LineRange: m.Params, Text: wire.With(params, "prompt", prompt)}})
}
