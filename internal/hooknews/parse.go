package hooknews

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// hookInput is what agents tell their hooks: Claude Code, Codex, Gemini CLI and Qwen Code
// in snake case, Cursor too but with a conversation, Copilot CLI in camel case, and
// Codex's notify in kebab case.
// https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks,
// https://geminicli.com/docs/hooks/reference, https://cursor.com/docs/agent/hooks,
// https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference
// (checked 2026-11-23)
type hookInput struct {
	Session      string          `json:"session_id"`
	SessionCamel string          `json:"sessionId"`
	Conversation string          `json:"conversation_id"`
	Thread       string          `json:"thread-id"`
	File         string          `json:"transcript_path"`
	FileCamel    string          `json:"transcriptPath"`
	Cwd          string          `json:"cwd"`
	Roots        []string        `json:"workspace_roots"`
	Event        string          `json:"hook_event_name"`
	Type         string          `json:"type"`
	Tool         string          `json:"tool_name"`
	ToolCamel    string          `json:"toolName"`
	Input        json.RawMessage `json:"tool_input"`
	Message      string          `json:"message"`
	Notice       string          `json:"notification_type"`
	Source       string          `json:"source"`
	Status       string          `json:"status"`
	Error        json.RawMessage `json:"error"`
}

// errNoSession means that an agent did not tell its hook which session it is about.
var errNoSession = errors.New("no session is named")

// Parse returns the news in what an agent told its hook. event is the name of the
// event, for agents that do not tell it; "" otherwise.
//
// The error says that payload is not JSON, or names no session.
func Parse(agent, event string, payload []byte, at time.Time) (News, error) {
	var t hookInput
	if err := json.Unmarshal(payload, &t); err != nil {
		return News{}, err
	}
	n := News{
		Agent:   agent,
		Session: cmp.Or(t.Session, t.SessionCamel, t.Conversation, t.Thread),
		File:    cmp.Or(t.File, t.FileCamel),
		Cwd:     t.Cwd,
		Event:   cmp.Or(t.Event, event, t.Type),
		At:      at,
	}
	if n.Session == "" {
		return News{}, errNoSession
	}
	if n.Cwd == "" && len(t.Roots) > 0 {
		n.Cwd = t.Roots[0]
	}
	if !filepath.IsAbs(n.File) {
		n.File = ""
	}
	n.State = t.state(plain(n.Event))
	switch n.State {
	case skein.StateWorking, skein.StateWaiting:
		if !strings.HasPrefix(plain(n.Event), "post") && !strings.HasPrefix(plain(n.Event), "after") {
			n.Tool = cmp.Or(t.Tool, t.ToolCamel)
		}
		if n.State == skein.StateWaiting {
			n.Asks = cmp.Or(skein.ToolAsks(n.Tool), t.asks(plain(n.Event)))
			n.Text = short(cmp.Or(t.Message, question(t.Input), n.Tool))
		}
	case skein.StateFailed:
		n.Text = short(cmp.Or(words(t.Error), t.Message, t.Status))
	}
	return n, nil
}

// plain returns the name of an event without what agents write differently.
func plain(event string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(event))
}

// state returns what an event says about its session; "" if nothing.
func (t *hookInput) state(event string) skein.WorkState {
	switch event {
	case "pretooluse", "beforetool":
		if skein.ToolAsks(cmp.Or(t.Tool, t.ToolCamel)) != "" {
			return skein.StateWaiting
		}
		return skein.StateWorking
	case "userpromptsubmit", "userpromptsubmitted", "beforesubmitprompt", "beforeagent",
		"posttooluse", "posttoolusefailure", "aftertool", "permissiondenied", "elicitationresult":
		return skein.StateWorking
	case "permissionrequest", "elicitation":
		return skein.StateWaiting
	case "notification":
		if kind := plain(cmp.Or(t.Notice, t.Message)); strings.Contains(kind, "permission") || strings.Contains(kind, "elicitation") {
			return skein.StateWaiting
		}
	case "sessionstart":
		if t.Source == "compact" { // in the middle of a turn
			return ""
		}
		return skein.StateIdle
	case "stop", "agentstop", "afteragent", "agentturncomplete", "interrupt":
		if t.Status == "error" {
			return skein.StateFailed
		}
		return skein.StateIdle
	case "stopfailure", "erroroccurred":
		return skein.StateFailed
	case "sessionend":
		return skein.StateEnded
	}
	return ""
}

// asks returns what an event asks a person that says that its session waits.
func (t *hookInput) asks(event string) skein.AskKind {
	if strings.Contains(event+plain(t.Notice), "elicitation") {
		return skein.AsksQuestion
	}
	return skein.AsksPermission
}

// question returns what a tool's input says that a person must decide: its question,
// its command, else all of it.
func question(input json.RawMessage) string {
	var v struct {
		Questions []struct {
			Question string `json:"question"`
		} `json:"questions"`
		Question string `json:"question"`
		Command  string `json:"command"`
	}
	if json.Unmarshal(input, &v) == nil {
		if len(v.Questions) > 0 {
			return v.Questions[0].Question
		}
		if s := cmp.Or(v.Question, v.Command); s != "" {
			return s
		}
	}
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return ""
	}
	return b.String()
}

// words returns the text of an error, which is a string, or an object with a message.
func words(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	var o struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(v, &o)
	return o.Message
}

// short cuts a text to 500 characters.
func short(s string) string {
	if r := []rune(s); len(r) > 500 {
		return string(r[:499]) + "…"
	}
	return s
}
