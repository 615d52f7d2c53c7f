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
	t      testing.TB
	to     io.Writer
	Permit string // the option that it picks; "" for y

	mu      sync.Mutex
	changed sync.Cond
	n       int
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
	e := &ScriptedEditor{t: t, to: out, answers: map[string]Answer{}}
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
		Answer
	}
	ok := json.Unmarshal(line, &m) == nil
	e.mu.Lock()
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
	switch m.Method {
	case "session/request_permission":
		pick := e.Permit
		if pick == "" {
			pick = "y"
		}
		e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, m.ID, pick))
	case "fs/write_text_file":
		e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
	case "fs/read_text_file":
		e.Write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":"what is in the buffer"}}`, m.ID))
	}
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
	e.mu.Unlock()
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": e.n, "method": method, "params": params})
	if err != nil {
		e.t.Fatal(err)
	}
	e.Write(string(b))
	return id
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
