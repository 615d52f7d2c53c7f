package claudecode

import (
	"encoding/json"
	"strings"

	"github.com/skein-dev/skein"
)

// result writes the result of a call.
func (w *writer) result(c *callOut) error {
	e, seq := c.owner, c.owner.End
	if c.from != nil {
		e, seq = c.from, max(seq, c.from.End)
	}
	c.done = true
	res := c.result
	if res == nil {
		w.lose(e, "calls without a result: as interrupted")
		res = &skein.Result{Failed: true, Text: "[Interrupted: there is no result, and it is unknown whether the tool took effect.]"}
	}
	blocks, err := w.output(e, c, res)
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
		l.Message.Content = []blockOut{w.resultBlock(c, res, blocks)}
		l.Result = w.rich(c, res, blocks)
	}
	w.put(e, seq, l)
	return nil
}

func (w *writer) resultBlock(c *callOut, res *skein.Result, blocks []blockOut) blockOut {
	out := struct {
		Type    string `json:"type"`
		Call    string `json:"tool_use_id"`
		Content any    `json:"content"`
		Failed  bool   `json:"is_error,omitempty"`
	}{"tool_result", c.id, content(blocks), res.Failed}
	switch {
	case w.ours && res.Text == "" && len(res.Files) == 0 && len(res.Raw) > 0:
		out.Content = res.Raw
	case len(blocks) == 0:
		out.Content = ""
	}
	return blockOut{body: skein.MustJSON(out)}
}

// output returns a tool's output as blocks.
func (w *writer) output(e *skein.Entry, c *callOut, res *skein.Result) (blocks []blockOut, err error) {
	text := res.Text.UTF8()
	if text != string(res.Text) {
		w.lose(e, "invalid Unicode: replaced")
	}
	if text == "" && len(res.Files) == 0 {
		text = skein.Text(res.Raw).UTF8()
	}
	switch {
	case strings.TrimSpace(text) != "":
		blocks = append(blocks, textBlock(text))
	case text != "":
		w.lose(e, "blank texts: left out")
		fallthrough
	case res.Failed || c.name == "":
		if !res.Failed && c.name != "" {
			break
		}
		w.lose(e, "empty results: a text says so")
		blocks = append(blocks, textBlock("(no output)"))
	}
	for i := range res.Files {
		f := &res.Files[i]
		if !strings.HasPrefix(f.Media, "image/") {
			w.lose(e, "files that Claude Code does not accept: as text")
			blocks = append(blocks, textBlock(describe(f)))
			continue
		}
		bs, err := w.file(e, f)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, bs...)
	}
	return blocks, nil
}

// rich returns the facts that the program keeps about a result besides its text; nil
// if there are none.
func (w *writer) rich(c *callOut, res *skein.Result, blocks []blockOut) json.RawMessage {
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
