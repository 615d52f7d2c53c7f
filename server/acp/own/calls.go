package own

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
)

// maxOutput is how much of the output of a tool that runs is shown, in bytes. A terminal
// is shown all of it.
const maxOutput = 8 << 10

// asked knows the calls in an answer.
func (d *editorView) asked(m *skein.Message, child bool) {
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil {
			d.calls[c.ID] = &shownCall{Call: c, child: child}
		}
	}
}

// begun returns what is shown of a call when the model has made it. If it runs a command,
// and the editor can do that, its output is shown as a terminal: the editor is told the
// output, and does not run the command itself. The members of _meta are those that Zed and
// agents for it have agreed on.
func (d *editorView) begun(c *shownCall) map[string]any {
	d.c.mu.Lock()
	c.terminal = d.c.client.terminals && record.Executes(c.Name)
	d.c.mu.Unlock()
	more := d.call(c.Call)
	if c.terminal {
		more["_meta"] = map[string]any{"terminal_info": map[string]any{"terminal_id": c.ID, "cwd": d.cwd}}
	}
	return more
}

// exited notes the status of a command that has ended.
func (d *editorView) exited(t *skein.ToolState) {
	var m struct{ Exit *int }
	if c := d.calls[t.Call]; c != nil && json.Unmarshal(t.Meta, &m) == nil {
		c.exit = m.Exit
	}
}

// outputPause is how long output may stay unshown.
const outputPause = 200 * time.Millisecond

// output shows a piece of the output of a call. Editors that have no terminals are shown
// it with what came before it: so that a command that prints many lines is not shown a
// hundred times, a piece that is small beside that waits for others.
func (d *editorView) output(id, text string) {
	c := d.calls[id]
	if c == nil {
		return
	}
	if c.terminal {
		c.output = "shown"
		d.say("tool_call_update", map[string]any{"toolCallId": id, "_meta": terminalOutput(id, text)})
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.output += text
	if more := len(c.output) - maxOutput; more > 0 {
		for more < len(c.output) && !utf8.RuneStart(c.output[more]) {
			more++
		}
		c.output = c.output[more:]
	}
	c.unshown += len(text)
	switch {
	case c.unshown*4 >= len(c.output):
		d.showOutput(c)
	case c.late == nil:
		c.late = time.AfterFunc(outputPause, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.late = nil; !c.ended && c.unshown > 0 {
				d.showOutput(c)
			}
		})
	}
}

// showOutput shows the end of the output of a call.
func (d *editorView) showOutput(c *shownCall) {
	c.unshown = 0
	d.say("tool_call_update", map[string]any{"toolCallId": c.ID, "content": textContent(strings.ToValidUTF8(c.output, "\ufffd"))})
}

// ends makes sure that no output is shown any more.
func (c *shownCall) ends() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
}

func terminalOutput(id, text string) map[string]any {
	return map[string]any{"terminal_output": map[string]any{"terminal_id": id, "data": text}}
}

// ran shows the result of a call.
func (d *editorView) ran(r *skein.Result) {
	u := record.Result(&skein.Part{Kind: skein.PartResult, Result: r}, d.blob)
	c := d.calls[r.CallID]
	delete(d.calls, r.CallID)
	if c != nil {
		c.ends()
	}
	if c == nil || !c.terminal {
		d.update(u)
		return
	}
	var more map[string]any
	_ = json.Unmarshal(u, &more) // it was just made
	delete(more, "content")      // the terminal stays
	more["rawOutput"] = r.Text
	about := map[string]any{}
	if c.output == "" {
		about = terminalOutput(c.ID, string(r.Text))
	}
	about["terminal_exit"] = map[string]any{"terminal_id": c.ID, "exit_code": c.exit, "signal": nil}
	more["_meta"] = about
	d.update(skein.MustJSON(more))
}

// unfinished shows that the calls of the turn that have no result get none any more.
func (d *editorView) unfinished() {
	for _, id := range slices.Sorted(maps.Keys(d.calls)) {
		d.calls[id].ends()
		if !d.calls[id].child {
			d.update(stored.Unfinished(id))
		}
	}
	clear(d.calls)
}
