package acptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A ScriptedEditor talks to an agent. Its methods fail the test if the agent ends.
type ScriptedEditor struct {
	t          testing.TB
	to         io.Writer
	Permit     string                              // the option that it picks; "" for y, "-" to never answer, "cancelled" for that outcome
	PermitKind string                              // the kind of the option that it picks instead; "" for none
	Reply      func(method string) json.RawMessage // what it answers instead, if not nil
	schema     *MessageSchema                      // that all lines are checked against; nil for none

	mu      sync.Mutex
	changed sync.Cond
	n       int
	asked   map[string]string // methods of requests, by ID
	answers map[string]Answer
	lines   [][]byte // all that the agent has said
	times   []time.Time
	ended   bool
}

// An Answer is what a request was answered.
type Answer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	Line int // how many lines came before it
}

// A SessionUpdate is what an agent said in a session.
type SessionUpdate struct {
	SessionID string `json:"sessionId"`
	Update    map[string]any
}

// NewEditor returns an editor that reads what the agent says from in, and writes to
// out. It reads until in ends.
func NewEditor(t testing.TB, in io.Reader, out io.Writer) *ScriptedEditor {
	e := &ScriptedEditor{t: t, to: out, asked: map[string]string{}, answers: map[string]Answer{}}
	e.changed.L = &e.mu
	go e.read(bufio.NewReader(in))
	return e
}

func (e *ScriptedEditor) read(in *bufio.Reader) {
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			e.take(line)
		}
		if err != nil {
			e.mu.Lock()
			e.ended = true
			e.changed.Broadcast()
			e.mu.Unlock()
			return
		}
	}
}

func (e *ScriptedEditor) take(line []byte) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Options []struct{ OptionID, Kind string }
		}
		Answer
	}
	ok := json.Unmarshal(line, &m) == nil
	e.mu.Lock()
	if e.schema != nil && bytes.HasSuffix(line, []byte("\n")) { // else the agent was killed
		if err := e.schema.Agent(line, func(id string) string { return e.asked[id] }); err != nil {
			e.t.Errorf("the protocol does not allow %s%v", line, err)
		}
	}
	if ok && m.Method == "" {
		m.Line = len(e.lines)
		e.answers[string(m.ID)] = m.Answer
	}
	e.lines, e.times = append(e.lines, line), append(e.times, time.Now())
	e.changed.Broadcast()
	e.mu.Unlock()
	if !ok || m.ID == nil {
		return
	}
	if e.Reply != nil && m.Method != "" {
		e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, e.Reply(m.Method)))
		return
	}
	switch m.Method {
	case "session/request_permission":
		pick := e.Permit
		if pick == "" {
			pick = "y"
		}
		for _, o := range m.Params.Options {
			if o.Kind == e.PermitKind {
				pick = o.OptionID
				break
			}
		}
		switch pick {
		case "-":
		case "cancelled":
			e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`, m.ID))
		default:
			e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, m.ID, pick))
		}
	case "fs/write_text_file":
		e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
	case "fs/read_text_file":
		e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":"what is in the buffer"}}`, m.ID))
	}
}

// Strict makes the editor fail the test at a line that the protocol's schema does not
// allow, if the schema is there; see [ReadSchema].
func (e *ScriptedEditor) Strict() {
	s := ReadSchema(e.t)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.schema = s
}

// Write sends a line as it is.
func (e *ScriptedEditor) Write(line string) {
	_, _ = io.WriteString(e.to, line+"\n") // if the agent has ended, no answer comes
}

// Send makes a request, and returns its ID.
func (e *ScriptedEditor) Send(method string, params any) string {
	e.mu.Lock()
	e.n++
	id := strconv.Itoa(e.n)
	e.asked[id] = method
	e.mu.Unlock()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": e.n, "method": method, "params": params})
	if err != nil {
		e.t.Fatal(err)
	}
	e.Write(string(b))
	return id
}

// SendAs makes a request of its own making, which has this ID.
func (e *ScriptedEditor) SendAs(id, method, line string) {
	e.mu.Lock()
	e.asked[id] = method
	e.mu.Unlock()
	e.Write(line)
}

// Await waits for the answer to a request; false if the agent ends before.
func (e *ScriptedEditor) Await(id string) (Answer, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		if a, ok := e.answers[id]; ok {
			return a, true
		}
		if e.ended {
			return Answer{}, false
		}
		e.changed.Wait()
	}
}

// Ask makes a request and returns its result, which it reads into to unless that is nil.
func (e *ScriptedEditor) Ask(method string, params, to any) Answer {
	e.t.Helper()
	a, ok := e.Await(e.Send(method, params))
	switch {
	case !ok:
		e.t.Fatalf("%s: the agent ended without an answer", method)
	case a.Error != nil:
		e.t.Fatalf("%s: %s", method, a.Error.Message)
	case to != nil:
		if err := json.Unmarshal(a.Result, to); err != nil {
			e.t.Fatalf("%s: %s: %v", method, a.Result, err)
		}
	}
	return a
}

// Initialize begins the conversation.
func (e *ScriptedEditor) Initialize() Answer {
	e.t.Helper()
	return e.Ask("initialize", map[string]any{"protocolVersion": 1, "clientInfo": map[string]any{"name": "test-editor", "version": "1"}, "clientCapabilities": map[string]any{}}, nil)
}

// New begins a session.
func (e *ScriptedEditor) New(cwd string) (id string) {
	e.t.Helper()
	var r struct{ SessionID string }
	e.Ask("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, &r)
	return r.SessionID
}

// Prompt says something, and returns why the turn ended.
func (e *ScriptedEditor) Prompt(session, text string) string {
	e.t.Helper()
	var r struct{ StopReason string }
	e.Ask("session/prompt", PromptOf(session, text), &r)
	return r.StopReason
}

// Cancel cancels the turn of a session.
func (e *ScriptedEditor) Cancel(session string) {
	e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session))
}

// PromptOf returns the params of a prompt.
func PromptOf(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// Lines returns what the agent has said since line n.
func (e *ScriptedEditor) Lines(n int) [][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lines[n:len(e.lines):len(e.lines)]
}

// Times returns when the editor had read what Lines returns.
func (e *ScriptedEditor) Times(n int) []time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.times[n:len(e.times):len(e.times)]
}

// AwaitMore waits until the agent has said more than n lines.
func (e *ScriptedEditor) AwaitMore(n int) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.lines) <= n {
		if e.ended {
			e.t.Fatalf("the agent ended after %d lines", n)
		}
		e.changed.Wait()
	}
}

// AwaitLine waits until the agent has said a line that has text.
func (e *ScriptedEditor) AwaitLine(text string) {
	e.t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := 0; ; {
		for ; i < len(e.lines); i++ {
			if bytes.Contains(e.lines[i], []byte(text)) {
				return
			}
		}
		if e.ended {
			e.t.Fatalf("the agent ended without %q", text)
		}
		e.changed.Wait()
	}
}

// Updates returns the updates of a session among lines, from the first to before the
// last.
func Updates(lines [][]byte, session string) (all []SessionUpdate) {
	for _, l := range lines {
		var m struct {
			Method string
			Params SessionUpdate
		}
		if json.Unmarshal(l, &m) == nil && m.Method == "session/update" && m.Params.SessionID == session {
			all = append(all, m.Params)
		}
	}
	return all
}

// Texts returns what the updates of a kind say, put together.
func Texts(all []SessionUpdate, kind string) (s string) {
	for _, u := range all {
		if u.Update["sessionUpdate"] == kind {
			if c, ok := u.Update["content"].(map[string]any); ok {
				t, _ := c["text"].(string) //nolint:errcheck // "" if it has none
				s += t
			}
		}
	}
	return s
}
