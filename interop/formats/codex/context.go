package codex

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// turn reads a turn_context: the settings of a turn. One that repeats the last makes
// no event.
func (r *reader) turn(l line) interop.Made {
	c, err := unmarshal[turnContext](l.Payload)
	if err != nil {
		return r.odd(l, err)
	}
	r.place.turn = turnID(c.TurnID, r.place.turn)
	now := short(string(l.Payload))
	if now == r.context {
		return interop.Made{}
	}
	r.context = now
	var set skein.Changed
	if c.Model != "" && c.Model != r.model {
		r.model, set.Model = c.Model, &c.Model
	}
	if c.Cwd != "" && c.Cwd != r.cwd {
		r.cwd, set.Cwd = c.Cwd, &c.Cwd
	}
	if set.Model == nil && set.Cwd == nil {
		return r.note(l)
	}
	noted := skein.NewEvent(skein.KindNoted, l.Time, skein.Noted{Name: noteName(l), Data: skeinRaw(l.Payload)})
	made := r.make(l, skein.NewEvent(skein.KindChanged, l.Time, set), noted)
	made.Floating = true
	return made
}

// compact reads a compaction: the message is the summary, the history is what the
// model is shown from now on in place of everything before.
func (r *reader) compact(l line) interop.Made {
	c, err := unmarshal[compacted](l.Payload)
	if err != nil {
		return r.odd(l, err)
	}
	r.group = group{}
	what := skein.Compacted{Opaque: skeinRaw(c.ReplacementHistory)}
	if c.Message != nil {
		what.Summary = c.Message.UTF8()
	}
	if what.Summary == "" {
		what.Summary = summaryOf(c.ReplacementHistory)
	}
	to := r.items
	made := r.make(l, skein.NewEvent(skein.KindCompacted, l.Time, what))
	made.Items[0].To = to
	return made
}

// summaryOf returns the texts of a history that only its provider can use, for all
// others.
func summaryOf(history jsontext.Value) string {
	if loose.IsNull(history) {
		return ""
	}
	items, err := unmarshal[[]item](history)
	if err != nil {
		return ""
	}
	var all said
	for _, it := range items {
		var s said
		if s.list(it.Content); it.Role == "user" || it.Role == "assistant" {
			all.parts = append(all.parts, s.parts...)
		}
	}
	kept := all.parts[:0]
	for _, p := range all.parts {
		if !injected(p.Text) {
			kept = append(kept, p)
		}
	}
	all.parts = kept
	return all.texts().UTF8()
}

// agents reads a message between agents of one run.
func (r *reader) agents(l line) interop.Made {
	it, err := unmarshal[item](l.Payload)
	if err != nil {
		return r.odd(l, err)
	}
	var s said
	s.list(it.Content)
	if len(s.parts) == 0 {
		return r.note(l)
	}
	return r.fromAgent(l, &s, it.Author)
}
