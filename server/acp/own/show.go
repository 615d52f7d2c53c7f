package own

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/server/acp/record"
)

// shown is what the editor was shown of a session.
type shown struct {
	calls map[string]*shownCall // that have no result
	title string
	stop  string // why the last answer ended, in its vendor's word
	used  int64  // tokens that it read and wrote
}

// A shownCall is a call that has no result.
type shownCall struct {
	*skein.Call
	child    bool // a subagent's, which is shown only if a person is asked about it
	terminal bool // its output is shown as a terminal
	exit     *int // its command's status

	mu      sync.Mutex
	output  string      // the end of its output
	unshown int         // bytes of it
	late    *time.Timer // that shows them
	ended   bool
}

// observe shows what happens. Of the work of subagents, only their calls are known, in
// case that a person is asked about one.
func (s *session) observe(u agent.Update) {
	if u.Kind == agent.Answered {
		s.asked(u.Message, u.Child != "")
	}
	if u.Child != "" {
		if u.Kind == agent.Ran {
			delete(s.shown.calls, u.Call.ID)
		}
		return
	}
	switch u.Kind {
	case agent.Stored:
		s.stored(u.Events)
	case agent.Text:
		s.chunk("agent_message_chunk", u.Text)
	case agent.Reasoning:
		s.chunk("agent_thought_chunk", u.Text)
	case agent.Waiting:
		s.note("warning", u.Err.Error()+"; trying again in "+u.Wait.Round(1e8).String())
	case agent.Answered:
		s.answered(u.Message)
	case agent.Running:
		more := s.call(u.Call) // a question has replaced the content
		more["status"] = "in_progress"
		s.say("tool_call_update", more)
	case agent.Output:
		s.output(u.Call.ID, u.Text)
	case agent.Ran:
		s.ran(u.Result)
	case agent.Compacting:
		s.note("info", "summarizing older messages")
	case agent.Compacted:
		if u.Err != nil {
			s.note("warning", "older messages were not summarized: "+u.Err.Error())
		}
	case agent.Asking, agent.Calling:
	}
}

func (s *session) blob(h skein.Hash) []byte {
	b, _ := s.c.o.Store.Blob(s.c.ctx, s.id, h) //nolint:errcheck // what cannot be read is shown empty
	return b
}

// stored shows what stored events change that editors show.
func (s *session) stored(events []skein.Event) {
	for _, e := range events {
		if s.guests != nil { // else nobody could attach yet
			s.guests.stored(e.Seq)
		}
		switch e.Kind {
		case skein.KindTitled:
			if t, err := skein.Decode[skein.Titled](e); err == nil {
				s.titled(t.Title)
			}
		case skein.KindTool:
			if t, err := skein.Decode[skein.ToolState](e); err == nil {
				s.exited(&t)
			}
		}
	}
}

// titled shows the session's title, unless it is shown.
func (s *session) titled(title string) {
	if s.id == "" || title == "" || title == s.shown.title {
		return
	}
	s.shown.title = title
	s.say("session_info_update", map[string]any{"title": title})
}

func (s *session) chunk(kind, text string) {
	s.say(kind, map[string]any{"content": map[string]any{"type": "text", "text": text}})
}

// answered shows the calls in an answer.
func (s *session) answered(m *skein.Message) {
	s.shown.stop = m.Stop
	if u := m.Usage; u != nil {
		s.shown.used = u.Input + u.CacheRead + u.CacheWrite + u.Output
		s.usage(nil)
	}
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil {
			s.say("tool_call", s.begun(s.shown.calls[c.ID]))
		}
	}
}

// call returns what is shown of a call, without the kind of update.
func (s *session) call(c *skein.Call) (more map[string]any) {
	if json.Unmarshal(record.Call(c, s.cwd), &more) != nil {
		return map[string]any{"toolCallId": c.ID}
	}
	delete(more, "sessionUpdate")
	if known := s.shown.calls[c.ID]; known != nil && known.terminal {
		more["content"] = []any{map[string]any{"type": "terminal", "terminalId": c.ID}}
	}
	return more
}

func textContent(text string) []any {
	return []any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": text}}}
}

// used shows what a turn changed: how much of the model's window is used, what the
// session cost, and its title.
func (s *session) used(ctx context.Context) {
	if cost, err := s.thread.Cost(ctx); err == nil && cost > 0 { // else it is not known
		s.usage(map[string]any{"amount": cost, "currency": "USD"})
	}
	if now, err := s.c.o.Store.Session(ctx, s.id); err == nil { // as above
		s.titled(skein.ShortTitle(now.Name()))
	}
}

func (s *session) usage(cost any) {
	size := s.thread.Window()
	if size == 0 || s.shown.used == 0 {
		return
	}
	more := map[string]any{"used": s.shown.used, "size": size}
	if cost != nil {
		more["cost"] = cost
	}
	s.say("usage_update", more)
}
