package own

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
)

// An editorView shows the editor, and whoever is attached, what happens in a session, and
// knows what they were shown.
type editorView struct {
	c    *editorLink
	id   skein.SessionID // "" while a new session is being opened
	cwd  string
	live *live.SessionHub // nil if nobody can attach

	calls  map[string]*shownCall // that have no result
	title  string
	stop   string // why the last answer ended, in its vendor's word
	tokens int64  // that it read and wrote

	mu      sync.Mutex
	offered bool              // the editor knows the session
	notes   []json.RawMessage // to be shown then
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
			delete(s.calls, u.Call.ID)
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
		s.answered(u.Message, s.thread.Window())
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

func (d *editorView) blob(h skein.Hash) []byte {
	b, _ := d.c.o.Store.Blob(d.c.ctx, d.id, h) //nolint:errcheck // what cannot be read is shown empty
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
func (d *editorView) titled(title string) {
	if d.id == "" || title == "" || title == d.title {
		return
	}
	d.title = title
	d.say("session_info_update", map[string]any{"title": title})
}

// update shows an update of the session.
func (d *editorView) update(u json.RawMessage) {
	d.c.write(stored.Update(d.id, u))
	d.live.Say(u)
}

// say shows an update of a kind with the members in more.
func (d *editorView) say(kind string, more map[string]any) {
	more["sessionUpdate"] = kind
	d.update(skein.MustJSON(more))
}

// note shows a note that is not part of an answer, as soon as the editor knows the
// session.
func (d *editorView) note(severity, text string) {
	d.c.mu.Lock()
	shows := d.c.client.notices
	d.c.mu.Unlock()
	u := stored.SessionNotice{Severity: severity, Title: text, Shown: shows}.Update()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.offered {
		d.notes = append(d.notes, u)
		return
	}
	d.update(u)
}

// tellNotes shows what there was to say before the editor knew the session.
func (d *editorView) tellNotes() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range d.notes {
		d.update(u)
	}
	d.notes, d.offered = nil, true
}

func (d *editorView) chunk(kind, text string) {
	d.say(kind, map[string]any{"content": map[string]any{"type": "text", "text": text}})
}

// answered shows the calls in an answer of a model that can read so many tokens.
func (d *editorView) answered(m *skein.Message, window int64) {
	d.stop = m.Stop
	if u := m.Usage; u != nil {
		d.tokens = u.Input + u.CacheRead + u.CacheWrite + u.Output
		d.usage(window, nil)
	}
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil {
			d.say("tool_call", d.begun(d.calls[c.ID]))
		}
	}
}

// call returns what is shown of a call, without the kind of update.
func (d *editorView) call(c *skein.Call) (more map[string]any) {
	if json.Unmarshal(record.Call(c, d.cwd), &more) != nil {
		return map[string]any{"toolCallId": c.ID}
	}
	delete(more, "sessionUpdate")
	if known := d.calls[c.ID]; known != nil && known.terminal {
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
		s.usage(s.thread.Window(), map[string]any{"amount": cost, "currency": "USD"})
	}
	if now, err := s.c.o.Store.Session(ctx, s.id); err == nil { // as above
		s.titled(skein.ShortTitle(now.Name()))
	}
}

func (d *editorView) usage(window int64, cost any) {
	if window == 0 || d.tokens == 0 {
		return
	}
	more := map[string]any{"used": d.tokens, "size": window}
	if cost != nil {
		more["cost"] = cost
	}
	d.say("usage_update", more)
}
