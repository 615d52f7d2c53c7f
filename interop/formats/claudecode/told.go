package claudecode

import (
	"math"

	"github.com/skein-dev/skein"
)

// conversation writes the messages.
func (w *writer) conversation() error {
	for i := range w.entries {
		e := &w.entries[i]
		w.compact(e.Seq, e.Time)
		if err := w.entry(e, i == len(w.entries)-1); err != nil {
			return err
		}
	}
	w.compact(math.MaxInt64, math.MaxInt64)
	return nil
}

// entry writes a message.
func (w *writer) entry(e *skein.Entry, last bool) error {
	switch e.Message.Role {
	case skein.RoleAssistant:
		return w.answer(e, last)
	case skein.RoleSystem:
		if !w.asked && w.parent == "" {
			w.lose(e, "system prompt: left out, Claude Code has its own")
			return nil
		}
		w.lose(e, "system messages amid the others: as a program's")
		return w.says(e, asMeta)
	case skein.RoleSteer:
		return w.says(e, asSteer)
	case skein.RoleTool:
		return w.says(e, asMeta)
	}
	if e.Message.Synthetic {
		return w.says(e, asMeta)
	}
	return w.says(e, asUser)
}

// lose reports that something of a message is lost, if the message is to be written.
func (w *writer) lose(e *skein.Entry, what string) {
	if e.End > w.keep {
		w.losses.Add(e.Seq, what)
	}
}

// A saying is how a message that is not a model's is written.
type saying int

const (
	asUser  saying = iota
	asMeta         // a program inserted it
	asSteer        // it was typed while the agent worked
)

// says writes what a user or program said, and before it the results that were not
// written with their calls.
func (w *writer) says(e *skein.Entry, how saying) error {
	var blocks []blockOut
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		if p.Result != nil && p.Kind == skein.PartResult {
			if err := w.resultLater(e, p.Result); err != nil {
				return err
			}
			continue
		}
		bs, err := w.block(e, p)
		if err != nil {
			return err
		}
		blocks = append(blocks, bs...)
	}
	if len(blocks) == 0 {
		return nil
	}
	l := lineOut{Type: "user", Message: &messageOut{Role: "user", Content: content(blocks)}}
	switch how {
	case asMeta:
		l.Meta = true
	case asSteer:
		l = lineOut{Type: "attachment", Attachment: &steerOut{Type: "queued_command", Prompt: content(blocks), Mode: "prompt"}}
		if e.Message.Synthetic {
			l.Attachment.Mode = "task-notification"
		}
	}
	w.put(e, e.End, l)
	w.asked = true
	return nil
}

// resultLater writes a result that was not written with its call, because the file
// already has the call.
func (w *writer) resultLater(e *skein.Entry, r *skein.Result) error {
	c := w.results[r]
	switch {
	case c == nil:
		w.lose(e, "results without a call, or second ones: left out")
	case !c.done:
		return w.result(c)
	}
	return nil
}

// answer writes what a model said, one line per block, and then the results of its
// calls.
func (w *writer) answer(e *skein.Entry, last bool) error {
	if !w.asked && w.parent == "" {
		w.lose(e, "a session that begins with an answer: a line before it says so")
		w.put(e, e.Seq, meta("[What was said before is not shown.]"))
		w.asked = true
	}
	var blocks []blockOut
	var calls []*callOut
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		if p.Call != nil && p.Kind == skein.PartCall {
			c := w.calls[p.Call]
			calls = append(calls, c)
			blocks = append(blocks, w.call(e, c))
			continue
		}
		if p.Result != nil {
			continue // it comes after the calls
		}
		bs, err := w.block(e, p)
		if err != nil {
			return err
		}
		blocks = append(blocks, bs...)
	}
	w.model(e, blocks)
	open := last && w.d.After > 0 // its results may still come
	for _, c := range calls {
		if c.name == "" || c.result == nil && open || !w.within(c) {
			continue
		}
		if err := w.result(c); err != nil {
			return err
		}
	}
	for _, c := range calls {
		if c.name != "" || c.result == nil || !w.within(c) {
			continue
		}
		if err := w.result(c); err != nil {
			return err
		}
	}
	if e.Message.Interrupted && len(blocks) > 0 {
		w.lose(e, "interruptions: as Claude Code notes them")
		text := "[Request interrupted by user]"
		if len(calls) > 0 {
			text = "[Request interrupted by user for tool use]"
		}
		w.put(e, e.End, lineOut{Type: "user", Message: &messageOut{Role: "user", Content: []blockOut{textBlock(text)}}})
	}
	return nil
}

// within reports whether the result of a call is written with it: not if the
// file has the call, and the result has come since.
func (w *writer) within(c *callOut) bool {
	return c.from == nil || c.owner.End > w.keep || c.from.End <= w.keep
}
