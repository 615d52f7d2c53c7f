package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// A ScriptedAgent answers prompts by what they say. A prompt is a list of words and their
// arguments, one on a line:
//
//	say TEXT      a message, in pieces of 5 bytes
//	think TEXT    a thought
//	tool NAME     a tool call that succeeds, its input in a second update
//	permit NAME   a tool call that asks first
//	read PATH     reads a file through the editor
//	plan, title TEXT, usage N, compact TEXT
//	stream N      N updates as fast as it can
//	stamp N       N updates with the time, a millisecond apart
//	long N        a message with N bytes in one line
//	raw TEXT      writes TEXT as a line
//	hang          waits for session/cancel
//	die           ends at once, without an answer
//	kill          kills the program that started it
//	fail          answers with an error
//	recall        says all it was told in the session
type ScriptedAgent struct {
	Dir      string // where its sessions are; they outlive it
	Name     string
	Can      string // words of: load resume fork close title
	Protocol int    // 0 for 1

	out   io.Writer
	mu    sync.Mutex
	asked map[string]chan message
	stop  map[string]chan struct{}
	n     int
}

type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}

// Serve runs the agent until in ends. Errors are in's.
func (a *ScriptedAgent) Serve(in io.Reader, out io.Writer) error {
	a.out, a.asked, a.stop = out, map[string]chan message{}, map[string]chan struct{}{}
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return err
		}
		var m message
		var got struct{ Result json.RawMessage }
		if json.Unmarshal(line, &m) != nil || json.Unmarshal(line, &got) != nil {
			continue
		}
		if m.Method == "" {
			a.mu.Lock()
			c := a.asked[string(m.ID)]
			a.mu.Unlock()
			if c != nil {
				m.Result = got.Result
				c <- m
			}
			continue
		}
		a.take(m)
	}
}

func (a *ScriptedAgent) can(what string) bool { return strings.Contains(a.Can, what) }

func (a *ScriptedAgent) send(m message) {
	m.JSONRPC = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.out.Write(append(b, '\n')) // the editor is gone
}

func (a *ScriptedAgent) answer(id json.RawMessage, result any) {
	a.send(message{ID: id, Result: result})
}

func (a *ScriptedAgent) refuse(id json.RawMessage, why string) {
	a.send(message{ID: id, Error: map[string]any{"code": -32000, "message": why}})
}

type params struct {
	SessionID string `json:"sessionId"`
	Cwd       string
	Prompt    []map[string]any
}

func (a *ScriptedAgent) take(m message) {
	var p params
	_ = json.Unmarshal(m.Params, &p) // what is missing is refused below
	switch m.Method {
	case "initialize":
		a.initialize(m)
	case "session/new":
		id := a.create(nil)
		a.update(id, map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": []any{}})
		a.answer(m.ID, a.opened(id))
	case "session/load", "session/resume":
		a.load(m, p)
	case "session/fork":
		told, ok := a.prompts(p.SessionID)
		if !ok || !a.can("fork") {
			a.refuse(m.ID, "no session "+p.SessionID)
			return
		}
		id := a.create(told)
		a.show(id, told) // as opencode does
		a.answer(m.ID, a.opened(id))
	case "session/cancel":
		a.mu.Lock()
		if c := a.stop[p.SessionID]; c != nil {
			close(c)
			delete(a.stop, p.SessionID)
		}
		a.mu.Unlock()
	case "session/prompt":
		stop := make(chan struct{})
		a.mu.Lock()
		a.stop[p.SessionID] = stop
		a.mu.Unlock()
		go a.turn(m, p, stop)
	case "session/close", "session/set_mode":
		a.answer(m.ID, map[string]any{})
	case "session/set_config_option":
		a.answer(m.ID, map[string]any{"configOptions": []any{}})
	default:
		if m.ID != nil {
			a.send(message{ID: m.ID, Error: map[string]any{"code": -32601, "message": "no method " + m.Method}})
		}
	}
}

func (a *ScriptedAgent) initialize(m message) {
	v := a.Protocol
	if v == 0 {
		v = 1
	}
	sessions := map[string]any{}
	for _, what := range []string{"resume", "fork", "close"} {
		if a.can(what) {
			sessions[what] = map[string]any{}
		}
	}
	a.answer(m.ID, map[string]any{
		"protocolVersion": v, "agentInfo": map[string]any{"name": a.Name, "version": "1"}, "_meta": map[string]any{"kept": "é"},
		"agentCapabilities": map[string]any{"loadSession": a.can("load"), "promptCapabilities": map[string]any{"image": true, "embeddedContext": true}, "sessionCapabilities": sessions},
	})
}

func (a *ScriptedAgent) opened(id string) map[string]any {
	return map[string]any{"sessionId": id, "configOptions": []any{map[string]any{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "test-model", "options": []any{}}}}
}

// create makes a session that was told these prompts.
func (a *ScriptedAgent) create(told []string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		a.n++
		id := fmt.Sprintf("inner-%d", a.n)
		f, err := os.OpenFile(filepath.Join(a.Dir, id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			continue // it exists
		}
		for _, t := range told {
			fmt.Fprintln(f, strconv.Quote(t))
		}
		f.Close()
		return id
	}
}

// prompts returns what a session was told.
func (a *ScriptedAgent) prompts(id string) (all []string, ok bool) {
	b, err := os.ReadFile(filepath.Join(a.Dir, filepath.Base(id)))
	for line := range strings.Lines(string(b)) {
		if t, err := strconv.Unquote(strings.TrimSpace(line)); err == nil {
			all = append(all, t)
		}
	}
	return all, err == nil
}

func (a *ScriptedAgent) load(m message, p params) {
	told, ok := a.prompts(p.SessionID)
	if !ok || !a.can(strings.TrimPrefix(m.Method, "session/")) {
		a.refuse(m.ID, "no session "+p.SessionID)
		return
	}
	if m.Method == "session/load" {
		a.show(p.SessionID, told)
	}
	o := a.opened(p.SessionID)
	delete(o, "sessionId")
	a.answer(m.ID, o)
}

// show shows a session from its beginning.
func (a *ScriptedAgent) show(id string, told []string) {
	for _, t := range told {
		a.update(id, map[string]any{"sessionUpdate": "user_message_chunk", "content": text(t)})
		a.update(id, map[string]any{"sessionUpdate": "agent_message_chunk", "content": text("as the agent has it")})
	}
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func (a *ScriptedAgent) update(id string, u map[string]any) {
	b, err := json.Marshal(map[string]any{"sessionId": id, "update": u})
	if err != nil {
		panic(err)
	}
	a.send(message{Method: "session/update", Params: b})
}

// ask makes a request of the editor.
func (a *ScriptedAgent) ask(method string, p map[string]any) message {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	c := make(chan message, 1)
	a.mu.Lock()
	a.n++
	id := json.RawMessage(strconv.Itoa(a.n))
	a.asked[string(id)] = c
	a.mu.Unlock()
	a.send(message{ID: id, Method: method, Params: b})
	return <-c
}
