package claudecode

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// calls writes tool calls and their results.
type calls struct {
	*output

	messages *messages
	tools    tools
	outs     map[*skein.Call]*callOut
	results  map[*skein.Result]*callOut
}

// A callOut is a call and its outcome.
type callOut struct {
	owner  *skein.Entry
	call   *skein.Call
	id     string
	name   string // Claude Code's name; "" if it is written as text
	input  []byte
	result *skein.Result
	from   *skein.Entry // that has the result
	child  skein.SessionID
	line   string // UUID of the line that has it
	done   bool   // the result is written
}

// pair gives each call its result: the first one for its ID; a result goes to the
// newest message that has a call with its ID.
func (cs *calls) pair(entries []skein.Entry, children map[string]skein.SessionID) {
	open, used := map[string][]*callOut{}, map[string]bool{}
	for i := range entries {
		e := &entries[i]
		for _, p := range e.Message.Parts {
			switch {
			case p.Call != nil && e.Message.Role == skein.RoleAssistant:
				c := &callOut{owner: e, call: p.Call, child: children[p.Call.ID]}
				c.id = unused(plainID(p.Call.ID), used)
				c.name, c.input = cs.tools.asTool(p.Call)
				cs.outs[p.Call] = c
				before := open[p.Call.ID]
				if len(before) > 0 && before[0].owner != e {
					before = nil
				}
				open[p.Call.ID] = append(before, c)
			case p.Result != nil:
				if waiting := open[p.Result.CallID]; len(waiting) > 0 {
					waiting[0].result, waiting[0].from = p.Result, e
					cs.results[p.Result] = waiting[0]
					open[p.Result.CallID] = waiting[1:]
				}
			}
		}
	}
}

// unused returns id, with a number appended if it is used.
func unused(id string, used map[string]bool) string {
	base := first(id, "call")
	for n := 2; id == "" || used[id]; n++ {
		end := "_" + strconv.Itoa(n)
		id = base[:min(len(base), maxID-len(end))] + end
	}
	used[id] = true
	return id
}

// call returns the block of a call: as text if Claude Code has no such tool.
func (cs *calls) call(e *skein.Entry, c *callOut) blockOut {
	if c.name == "" {
		cs.lose(e, "calls of tools that Claude Code does not have: as text")
		return textBlock(fmt.Sprintf("[I called the tool %s, which no longer exists, with this input:]\n%s", skein.Text(c.call.Name).UTF8(), words(c.call.Input)))
	}
	if c.name != c.call.Name || string(c.input) != string(c.call.Input) {
		cs.lose(e, "tools' names and inputs: as Claude Code's own")
	}
	if c.id != c.call.ID {
		cs.lose(e, "IDs of calls: in the provider's form")
	}
	return blockOut{skein.MustJSON(struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}{"tool_use", c.id, c.name, c.input}), nil, c}
}

// result writes the result of a call.
func (cs *calls) result(c *callOut) error {
	e, seq := c.owner, c.owner.End
	if c.from != nil {
		e, seq = c.from, max(seq, c.from.End)
	}
	c.done = true
	res := c.result
	if res == nil {
		cs.lose(e, "calls without a result: as interrupted")
		res = &skein.Result{Failed: true, Text: cs.messages.d.Unanswered(c.owner, c.call.ID)}
	}
	blocks, err := cs.outputOf(e, c, res)
	if err != nil {
		return err
	}
	l := lineOut{Type: "user", Source: c.line, Message: &messageOut{Role: "user"}}
	if c.name == "" {
		head := "[The tool " + skein.Text(c.call.Name).UTF8() + " answered:]"
		if res.Failed {
			head = "[The tool " + skein.Text(c.call.Name).UTF8() + " failed:]"
		}
		l.Meta, l.Source, l.Message.Content = true, "", append([]blockOut{textBlock(head)}, blocks...)
	} else {
		l.Message.Content = []blockOut{cs.resultBlock(c, res, blocks)}
		l.Result = rich(c, res, blocks)
	}
	cs.put(e, seq, l)
	return nil
}

func (cs *calls) resultBlock(c *callOut, res *skein.Result, blocks []blockOut) blockOut {
	out := struct {
		Type    string `json:"type"`
		Call    string `json:"tool_use_id"`
		Content any    `json:"content"`
		Failed  bool   `json:"is_error,omitempty"`
	}{"tool_result", c.id, content(blocks), res.Failed}
	switch {
	case cs.messages.ours && res.Text == "" && len(res.Files) == 0 && len(res.Raw) > 0:
		out.Content = res.Raw
	case len(blocks) == 0:
		out.Content = ""
	}
	return blockOut{body: skein.MustJSON(out)}
}

// outputOf returns a tool's output as blocks.
func (cs *calls) outputOf(e *skein.Entry, c *callOut, res *skein.Result) (blocks []blockOut, err error) {
	text := res.Text.UTF8()
	if text != string(res.Text) {
		cs.lose(e, "invalid Unicode: replaced")
	}
	if text == "" && len(res.Files) == 0 {
		text = skein.Text(res.Raw).UTF8()
	}
	switch {
	case strings.TrimSpace(text) != "":
		blocks = append(blocks, textBlock(text))
	case text != "":
		cs.lose(e, "blank texts: left out")
		fallthrough
	case res.Failed || c.name == "":
		if !res.Failed && c.name != "" {
			break
		}
		cs.lose(e, "empty results: a text says so")
		blocks = append(blocks, textBlock("(no output)"))
	}
	for i := range res.Files {
		f := &res.Files[i]
		if !strings.HasPrefix(f.Media, "image/") {
			cs.lose(e, "files that Claude Code does not accept: as text")
			blocks = append(blocks, textBlock(describe(f)))
			continue
		}
		bs, err := cs.messages.file(e, f)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, bs...)
	}
	return blocks, nil
}

// rich returns the facts that the program keeps about a result besides its text; nil
// if there are none.
func rich(c *callOut, res *skein.Result, blocks []blockOut) json.RawMessage {
	var text string
	if len(blocks) > 0 && blocks[0].text != nil {
		text = *blocks[0].text
	}
	switch {
	case c.child != "":
		prompt := ""
		if o := parseObject(c.input); o != nil {
			prompt = o.Str("prompt")
		}
		return skein.MustJSON(agentResult{"completed", prompt, agentOf(c.child), []blockOut{textBlock(text)}, 0, 0, 0})
	case res.Failed:
		return skein.MustJSON("Error: " + text)
	case c.name == "Bash" && len(res.Files) == 0:
		return skein.MustJSON(bashResult{Out: text})
	}
	return nil
}

type (
	agentResult struct {
		Status   string     `json:"status"`
		Prompt   string     `json:"prompt"`
		Agent    string     `json:"agentId"`
		Content  []blockOut `json:"content"`
		Duration int64      `json:"totalDurationMs"`
		Tokens   int64      `json:"totalTokens"`
		Uses     int64      `json:"totalToolUseCount"`
	}
	bashResult struct {
		Out         string `json:"stdout"`
		Err         string `json:"stderr"`
		Interrupted bool   `json:"interrupted"`
		Image       bool   `json:"isImage"`
	}
)

// later writes a result that was not written with its call, because the file
// already has the call.
func (cs *calls) later(e *skein.Entry, r *skein.Result) error {
	c := cs.results[r]
	switch {
	case c == nil:
		cs.lose(e, "results without a call, or second ones: left out")
	case !c.done:
		return cs.result(c)
	}
	return nil
}

// within reports whether the result of a call is written with it: not if the
// file has the call, and the result has come since.
func (cs *calls) within(c *callOut) bool {
	return c.from == nil || c.owner.End > cs.keep || c.from.End <= cs.keep
}
