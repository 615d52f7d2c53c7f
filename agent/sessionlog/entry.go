package sessionlog

import (
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein"
)

// A Kind says what part of a turn a line is.
type Kind string

// The kinds. Lines that are not part of a turn have no kind.
const (
	User  Kind = "user_message"
	Step  Kind = "step"
	Final Kind = "final_result"
)

// An Entry is what a line of a log says.
type Entry struct {
	Line    int             // 1 for the first
	Anew    bool            // the log was replaced or emptied: this is the first line of its new content
	Time    skein.Time      // 0 if it is not known
	Level   string          // DEBUG, INFO, WARNING, ERROR; "" if the log has none
	Event   string          // such as tool:pre; "" if the log has none
	Session skein.SessionID // "" if the log does not say
	Seq     skein.Seq       // 0 if the log does not say
	Kind    Kind
	Step    string          // agent_start, agent_end, agent_tool_start, agent_tool_end, handoff, text; "" if the line is not a step
	Text    skein.Text      // what a person, a model or a tool said
	Agent   string          // of a step
	To      string          // agent that a handoff goes to
	Tool    string          // name
	Input   string          // of a tool
	Model   string          // of a final result: provider/model
	Data    json.RawMessage // nil if the line has none
	Raw     []byte          // the line unchanged, without its line feed
	Damage  string          // why the line could not be read, for people; only Line, Anew and Raw are set then
	Torn    bool            // with Damage: the line is at the end of the file; the rest may still come
}

// wire is a line of a log, written by skein or by a program with a similar
// format.
type wire struct {
	TS        string          `json:"ts"`
	Timestamp string          `json:"timestamp"`
	Level     string          `json:"lvl"`
	Event     string          `json:"event"`
	Session   skein.SessionID `json:"session_id"`
	Seq       skein.Seq       `json:"seq"`
	Kind      Kind            `json:"kind"`
	Input     json.RawMessage `json:"userInput"`
	Step      struct {
		Type   string     `json:"type"`
		Text   skein.Text `json:"text"`
		Agent  string     `json:"agentName"`
		To     string     `json:"toAgentName"`
		Tool   string     `json:"toolName"`
		Input  string     `json:"toolArgumentsStr"`
		Result skein.Text `json:"result"`
	} `json:"stepResult"`
	Final struct {
		Text skein.Text `json:"text"`
	} `json:"finalResult"`
	Model string          `json:"model"`
	Data  json.RawMessage `json:"data"`
}

// parse reads a line.
func parse(line []byte) Entry {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return Entry{Damage: err.Error()}
	}
	if w.Kind == "" && w.Event == "" {
		return Entry{Damage: fmt.Sprintf("neither kind nor event: %.40q", line)}
	}
	e := Entry{
		Time: w.time(), Level: w.Level, Event: w.Event, Session: w.Session, Seq: w.Seq, Kind: w.Kind,
		Step: w.Step.Type, Agent: w.Step.Agent, To: w.Step.To, Tool: w.Step.Tool, Input: w.Step.Input,
		Model: w.Model, Data: w.Data,
	}
	switch w.Kind {
	case User:
		e.Text = inputWords(w.Input, 0)
	case Step:
		e.Text = w.Step.Text + w.Step.Result
	case Final:
		e.Text = w.Final.Text
	case "":
		e.fromData()
	}
	return e
}

func (w *wire) time() skein.Time {
	for _, s := range []string{w.TS, w.Timestamp} {
		if t, err := skein.ParseTime(s); err == nil && t != 0 {
			return t
		}
	}
	return 0
}

// inputWords returns the text of a user's input: a string, or a list of items
// whose content is a string or has parts with a text.
func inputWords(input json.RawMessage, depth int) (text skein.Text) {
	if json.Unmarshal(input, &text) == nil || depth > 3 {
		return text
	}
	type item struct {
		Text    skein.Text      `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	var items []item
	if json.Unmarshal(input, &items) != nil {
		return ""
	}
	for _, it := range items {
		words := it.Text
		if len(it.Content) > 0 {
			words += inputWords(it.Content, depth+1)
		}
		if text != "" && words != "" {
			text += "\n\n"
		}
		text += words
	}
	return text
}

// fromData fills in the kind of a line that has none: Amplifier puts into data
// what skein puts into the members of a kind.
func (e *Entry) fromData() {
	var d struct {
		Prompt  *skein.Text     `json:"prompt"`
		Preview *skein.Text     `json:"response_preview"`
		Tool    *string         `json:"tool_name"`
		Input   json.RawMessage `json:"tool_input"`
		Result  json.RawMessage `json:"result"`
	}
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &d) != nil {
		return
	}
	switch {
	case e.Event == "prompt:submit" && d.Prompt != nil:
		e.Kind, e.Text = User, *d.Prompt
	case e.Event == "prompt:complete" && d.Preview != nil:
		e.Kind, e.Text = Final, *d.Preview
	case e.Event == "tool:pre" && d.Tool != nil:
		e.Kind, e.Step, e.Tool, e.Input = Step, "agent_tool_start", *d.Tool, inputText(d.Input)
	case (e.Event == "tool:post" || e.Event == "tool:error") && d.Tool != nil:
		e.Kind, e.Step, e.Tool, e.Text = Step, "agent_tool_end", *d.Tool, skein.Text(inputText(d.Result))
	}
}
