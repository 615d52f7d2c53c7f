package acptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// turn answers a prompt.
func (a *ScriptedAgent) turn(m message, p params, stop <-chan struct{}) {
	var all []string
	for _, block := range p.Prompt {
		if s, ok := block["text"].(string); ok {
			all = append(all, s)
		}
	}
	told := strings.Join(all, "\n")
	if err := a.remember(p.SessionID, told); err != nil {
		a.refuse(m.ID, err.Error())
		return
	}
	const end = "</previous-conversation>\n"
	words := told
	if n := strings.LastIndex(told, end); n >= 0 {
		words = told[n+len(end):]
	}
	for line := range strings.Lines(words) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "hang":
			<-stop
			a.answer(m.ID, map[string]any{"stopReason": "cancelled"})
			return
		case "fail":
			a.refuse(m.ID, "the model is overloaded")
			return
		case "die":
			os.Exit(7)
		case "kill":
			if p, err := os.FindProcess(os.Getppid()); err == nil {
				_ = p.Kill() // the test sees what runs on
			}
			<-stop
		}
		a.do(p.SessionID, word, rest)
	}
	a.answer(m.ID, map[string]any{"stopReason": "end_turn", "usage": map[string]any{"totalTokens": 30, "inputTokens": 10, "outputTokens": 20}})
}

// remember keeps what a session was told.
func (a *ScriptedAgent) remember(id, told string) error {
	f, err := os.OpenFile(filepath.Join(a.Dir, filepath.Base(id)), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, strconv.Quote(told))
	return err
}

func (a *ScriptedAgent) do(id, word, rest string) {
	chunk := func(kind, s string) {
		a.update(id, map[string]any{"sessionUpdate": kind, "content": text(s)})
	}
	count, _ := strconv.Atoi(rest) //nolint:errcheck // 0 if it is no number
	switch word {
	case "say":
		for len(rest) > 0 {
			n := min(5, len(rest))
			chunk("agent_message_chunk", rest[:n])
			rest = rest[n:]
		}
	case "think":
		chunk("agent_thought_chunk", rest)
	case "tool":
		a.tool(id, rest, false)
	case "permit":
		a.tool(id, rest, true)
	case "read":
		got := a.ask("fs/read_text_file", map[string]any{"sessionId": id, "path": rest})
		chunk("agent_message_chunk", fmt.Sprintf("read %s", got.Result))
	case "plan":
		a.update(id, map[string]any{"sessionUpdate": "plan", "entries": []any{map[string]any{"content": rest, "priority": "high", "status": "pending"}}})
	case "title":
		a.update(id, map[string]any{"sessionUpdate": "session_info_update", "title": rest})
	case "usage":
		a.update(id, map[string]any{"sessionUpdate": "usage_update", "used": count, "size": 1000, "cost": map[string]any{"amount": 0.25, "currency": "USD"}})
	case "compact":
		a.update(id, map[string]any{"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed", "summary": []any{text(rest)}})
	case "stream":
		for i := range count {
			chunk("agent_message_chunk", fmt.Sprintf("%d ", i))
		}
	case "stamp":
		for range count {
			<-time.After(time.Millisecond)
			chunk("agent_message_chunk", strconv.FormatInt(time.Now().UnixNano(), 10))
		}
	case "long":
		chunk("agent_message_chunk", strings.Repeat("x", count))
	case "raw":
		a.mu.Lock()
		fmt.Fprintln(a.out, rest)
		a.mu.Unlock()
	case "recall":
		told, _ := a.prompts(id)
		chunk("agent_message_chunk", strings.Join(told, "|"))
	}
}

// tool makes a tool call; if asks, the editor is asked whether it may run.
func (a *ScriptedAgent) tool(id, name string, asks bool) {
	call := "call_" + name
	a.update(id, map[string]any{"sessionUpdate": "tool_call", "toolCallId": call, "title": "Run " + name, "kind": "execute", "status": "pending", "rawInput": map[string]any{}})
	a.update(id, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "rawInput": map[string]any{"command": name}})
	status := "completed"
	if asks {
		got := a.ask("session/request_permission", map[string]any{
			"sessionId": id, "toolCall": map[string]any{"toolCallId": call},
			"options": []any{map[string]any{"optionId": "y", "name": "Yes", "kind": "allow_once"}, map[string]any{"optionId": "n", "name": "No", "kind": "reject_once"}},
		})
		var r struct{ Outcome struct{ OptionID string } }
		if b, ok := got.Result.(json.RawMessage); !ok || json.Unmarshal(b, &r) != nil || r.Outcome.OptionID != "y" {
			status = "failed"
		}
	}
	a.update(id, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "in_progress", "locations": []any{map[string]any{"path": "/tmp/a"}}})
	a.update(id, map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": []any{map[string]any{"type": "content", "content": text("output of " + name)}}})
}
