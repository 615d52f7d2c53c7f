package acp

import (
	"context"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/acp/wire"
)

// replay shows the editor what was said.
func replay(ctx context.Context, store skein.Store, s *session) error {
	for u, err := range stored.Replay(ctx, store, s.outer) {
		if err != nil {
			return err
		}
		s.toEditor.pass(stored.Update(s.outer, u), nil)
	}
	s.toEditor.idle() // the answer does not come before
	s.toEditor.mu.Unlock()
	return nil
}

// mostContext limits what an agent is told of a session that it cannot load: the newest.
const mostContext = 200_000

// asText returns a session as text for a model; "" if nothing was said in it.
func asText(ctx context.Context, store skein.Store, id skein.SessionID) (string, error) {
	var all []string
	size := 0
	for e, err := range stored.Entries(ctx, store, id) {
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
