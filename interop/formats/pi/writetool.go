package pi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

// A callOut is a call and its outcome.
type callOut struct {
	name   string // as written; "" if it became text
	result *skein.Result
	told   bool
}

// calls writes tool calls.
type calls struct {
	*output

	outs map[string]*callOut
}

// results collects the first result of each call, and moves it before anything said
// between the call and the result: providers require them to be adjacent.
func (cs *calls) results(acts []act) {
	open := map[string]bool{}
	for i := range acts {
		en := acts[i].entry
		if en == nil {
			continue
		}
		if en.Message.Role != skein.RoleTool && len(open) > 0 {
			acts[i].moved = pull(acts[i+1:], open)
		}
		for _, p := range en.Message.Parts {
			switch {
			case p.Call != nil && en.Message.Role == skein.RoleAssistant:
				open[p.Call.ID] = true
				cs.outs[p.Call.ID] = nil // until it is written
			case p.Result != nil:
				delete(open, p.Result.CallID)
			}
		}
	}
}

// pull returns the messages of acts that answer open calls, up to the next rewind.
func pull(acts []act, open map[string]bool) (all []*skein.Entry) {
	for _, a := range acts {
		if a.event.Kind == skein.KindRewound {
			break
		}
		if a.entry == nil || a.entry.Message.Role != skein.RoleTool {
			continue
		}
		for _, p := range a.entry.Message.Parts {
			if p.Result != nil && open[p.Result.CallID] {
				all = append(all, a.entry)
				break
			}
		}
	}
	clear(open)
	return all
}

// resultsOf writes the results in a message, once each, as entries before the
// next event.
func (ms *messages) resultsOf(e skein.Event, en *skein.Entry) {
	for _, p := range en.Message.Parts {
		r := p.Result
		switch {
		case r == nil && en.Message.Role == skein.RoleTool:
			if blocks := ms.block(en, &p); len(blocks) > 0 {
				ms.entry(e, "custom_message", customOut{"skein", blocks, true})
			}
			continue
		case r == nil:
			continue
		}
		c := ms.calls.outs[r.CallID]
		switch {
		case c != nil && c.told:
			if c.result != r {
				ms.losses.Add(en.Seq, "a second result of a call: left out")
			}
			continue
		case c == nil || c.name == "":
			ms.entry(e, "custom_message", customOut{"skein", append([]any{text(heading(r))}, ms.content(en, r)...), true})
		default:
			ms.entry(e, "message", messageOut{resultOut{"toolResult", r.CallID, c.name, ms.content(en, r), r.Failed, int64(en.Time)}})
		}
		if c == nil {
			c = &callOut{}
			ms.calls.outs[r.CallID] = c
		}
		c.result, c.told = r, true
	}
}

func heading(r *skein.Result) string {
	what := "answered"
	if r.Failed {
		what = "failed with"
	}
	return fmt.Sprintf("[The tool %s %s:]", or(r.Name, r.CallID), what)
}

// content returns the blocks of a result.
func (ms *messages) content(en *skein.Entry, r *skein.Result) []any {
	blocks := []any{}
	switch {
	case r.Text != "":
		blocks = append(blocks, textOut{"text", r.Text})
	case len(r.Raw) > 0:
		blocks = append(blocks, text(string(r.Raw)))
	}
	for i := range r.Files {
		blocks = append(blocks, ms.file(en, &r.Files[i]))
	}
	return blocks
}

// callBlock returns a call as one of pi's own tools, and true; or as text, if none
// fits.
func (cs *calls) callBlock(en *skein.Entry, c *skein.Call) (any, bool) {
	name, input, same := toolOf(c)
	if name == "" && cs.own {
		name, input, same = c.Name, asObject(c.Input), true
	}
	if name == "" {
		return cs.asText(en, c)
	}
	if !same {
		cs.losses.Add(en.Seq, "calls of other programs' tools: as pi's, without what these do not take")
	}
	cs.outs[c.ID] = &callOut{name: name}
	return callBlock{"toolCall", c.ID, name, input}, true
}

func (cs *calls) asText(en *skein.Entry, c *skein.Call) (any, bool) {
	cs.losses.Add(en.Seq, "calls of tools that pi does not have: as text")
	cs.outs[c.ID] = &callOut{}
	input := string(c.Input)
	if input == "" {
		input = "{}"
	}
	return text(fmt.Sprintf("[Called the tool %s, which no longer exists, with %s]", c.Name, input)), false
}

// asObject returns an input as the object that it must be.
func asObject(input json.RawMessage) json.RawMessage {
	if b := bytes.TrimSpace(input); len(b) > 0 && b[0] == '{' {
		return input
	}
	if len(input) == 0 || string(input) == "null" {
		return json.RawMessage("{}")
	}
	return slices.Concat(json.RawMessage(`{"input":`), input, json.RawMessage("}"))
}
