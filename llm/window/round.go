package window

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// A contextBuilder collects the messages of a context.
type contextBuilder struct {
	rules    Rules
	drafts   []*draftMessage
	states   map[string][]callState // by call ID, in order
	open     map[string][]*round    // by call ID: calls of the newest message with that ID that have no result yet
	answered map[string]bool        // call IDs that had a result
	talked   bool                   // some draft is not a system message
	repairs  []Repair
}

// A draftMessage is a message being prepared for the context, and the calls in it.
type draftMessage struct {
	seq    skein.Seq
	typed  bool // by a person
	m      skein.Message
	rounds []*round
}

// A callState is the state of a call as of some event.
type callState struct {
	seq   skein.Seq
	state skein.CallState
}

// A round is a call and its result.
type round struct {
	draft  *draftMessage
	call   *skein.Call // the copy in the draft
	id     string
	result *skein.Result // nil until the result is found
	at     skein.Seq     // seq of the message with the result
	most   int           // maximum bytes of the result that are shown; 0 for all
}

func (b *contextBuilder) repair(seq skein.Seq, k RepairKind, detail string) {
	b.repairs = append(b.repairs, Repair{seq, k, detail})
}

// take adds the message e to the drafts, and the results in it to their calls.
func (b *contextBuilder) take(e *skein.Entry) {
	m := &e.Message
	d := &draftMessage{seq: e.Seq, typed: m.Typed(), m: skein.Message{ID: m.ID, Role: m.Role, Provider: m.Provider, Model: m.Model, Synthetic: m.Synthetic}}
	b.drafts = append(b.drafts, d)
	b.role(d)
	for i := range m.Parts {
		b.part(d, m, &m.Parts[i])
	}
	switch {
	case len(d.m.Parts) == 0:
		b.drafts = b.drafts[:len(b.drafts)-1]
		if !slices.ContainsFunc(m.Parts, func(p skein.Part) bool { return p.Result != nil }) {
			b.repair(d.seq, RepairEmpty, string(m.Role))
		}
		return
	case d.m.Role == skein.RoleAssistant && (m.Interrupted || m.Error != nil):
		d.mark()
		b.repair(d.seq, RepairInterrupted, "")
	}
	b.talked = b.talked || d.m.Role != skein.RoleSystem
}

// role gives d a role that is allowed in a request.
func (b *contextBuilder) role(d *draftMessage) {
	was := d.m.Role
	switch was {
	case skein.RoleUser, skein.RoleAssistant:
		return
	case skein.RoleSystem:
		if !b.rules.SystemFirst || !b.talked {
			return
		}
	case skein.RoleTool, skein.RoleSteer: // what is not a result is the user's
		d.m.Role = skein.RoleUser
		d.m.Synthetic = d.m.Synthetic || was == skein.RoleTool
		return
	}
	d.m.Role, d.m.Synthetic = skein.RoleUser, true
	b.repair(d.seq, RepairRole, string(was))
}

// mark marks d as interrupted, before its first call.
func (d *draftMessage) mark() {
	i := slices.IndexFunc(d.m.Parts, func(p skein.Part) bool { return p.Kind == skein.PartCall })
	if i < 0 {
		i = len(d.m.Parts)
	}
	d.m.Parts = slices.Insert(d.m.Parts, i, skein.Part{Kind: skein.PartText, Text: "[This answer was interrupted and is not whole.]", Synthetic: true})
}

func (b *contextBuilder) call(d *draftMessage, c *skein.Call) {
	if d.m.Role != skein.RoleAssistant {
		b.repair(d.seq, RepairPart, "call "+c.ID)
		return
	}
	open := b.open[c.ID]
	if len(open) > 0 && open[0].draft != d {
		open = nil // the older ones stay without a result
	}
	twin := func(r *round) bool {
		return c.ID != "" && r.id == c.ID && r.call.Name == c.Name && bytes.Equal(r.call.Input, c.Input)
	}
	if slices.ContainsFunc(d.rounds, twin) {
		b.repair(d.seq, RepairDuplicate, "call "+c.ID)
		return
	}
	copied := *c
	r := &round{draft: d, call: &copied, id: c.ID}
	b.open[c.ID] = append(open, r)
	d.rounds = append(d.rounds, r)
	d.m.Parts = append(d.m.Parts, skein.Part{Kind: skein.PartCall, Call: &copied})
}

// result adds res to the oldest call of the newest message that has no result
// yet.
func (b *contextBuilder) result(seq skein.Seq, res *skein.Result) {
	open := b.open[res.CallID]
	switch {
	case len(open) > 0:
		open[0].result, open[0].at = res, seq
		b.open[res.CallID] = open[1:]
		b.answered[res.CallID] = true
	case b.answered[res.CallID]:
		b.repair(seq, RepairDuplicate, "result "+res.CallID)
	default:
		b.repair(seq, RepairOrphan, "result "+res.CallID)
	}
}

// settle gives every call a name and ID that the provider accepts, an input
// that is an object, and a result.
func (b *contextBuilder) settle() {
	used := map[string]int{}
	for _, d := range b.drafts {
		for _, r := range d.rounds {
			b.name(r, used)
			if object, ok := asObject(r.call.Input); !ok {
				r.call.Input = object
				b.repair(d.seq, RepairInput, "call "+r.id)
			} else {
				r.call.Input = object
			}
		}
	}
}

func (b *contextBuilder) name(r *round, used map[string]int) {
	c, limit := r.call, b.rules.MaxCall
	first := plainName(r.id, limit, "call")
	for c.ID = first; used[c.ID] > 0; used[first]++ {
		end := fmt.Sprintf("_%d", used[first]+1)
		c.ID = plainName(cmp.Or(r.id, "call"), max(0, limit-len(end)), "") + end
	}
	used[c.ID]++
	name := plainName(c.Name, b.rules.MaxName, "tool")
	if c.ID != r.id || c.Name != name {
		b.repair(r.draft.seq, RepairRenamed, fmt.Sprintf("call %s of %s", r.id, c.Name))
	}
	c.Name = name
}

// asObject returns input as a JSON object, and whether it was one; empty input
// counts as an empty object.
func asObject(input json.RawMessage) (json.RawMessage, bool) {
	input = bytes.TrimSpace(input)
	switch {
	case len(input) == 0 || string(input) == "null":
		return json.RawMessage("{}"), true
	case input[0] == '{':
		return input, true
	}
	if s, ok := skein.Unquote(input); ok {
		if s = strings.TrimSpace(s); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
			return json.RawMessage(s), false
		}
	}
	return slices.Concat(json.RawMessage(`{"input":`), input, json.RawMessage("}")), false
}

// answer returns the part with the result of r.
func (b *contextBuilder) answer(r *round) skein.Part {
	res := skein.Result{CallID: r.call.ID, Name: r.call.Name}
	if r.result == nil {
		res.Text, res.Failed = b.state(r).Unanswered(), true
		b.repair(r.draft.seq, RepairAnswered, "call "+r.id)
		return skein.Part{Kind: skein.PartResult, Result: &res, Synthetic: true}
	}
	res.Failed = r.result.Failed
	text := []string{r.result.Text.UTF8()}
	for _, f := range r.result.Files {
		if takes(b.rules.ResultMedia, &f) {
			res.Files = append(res.Files, f)
			continue
		}
		text = append(text, describe(&f))
		b.repair(r.draft.seq, RepairFile, f.Name)
	}
	if text[0] == "" && len(r.result.Files) == 0 {
		text[0] = skein.Text(r.result.Raw).UTF8()
	}
	if text[0] == "" {
		text = text[1:]
	}
	res.Text = skein.Text(strings.Join(text, "\n"))
	if r.most > 0 {
		b.shorten(r, &res)
	}
	return skein.Part{Kind: skein.PartResult, Result: &res}
}

// state returns the newest state of r since its message began: an older call
// may have had the same ID.
func (b *contextBuilder) state(r *round) skein.CallState {
	all := b.states[r.id]
	if n := len(all); n > 0 && all[n-1].seq > r.draft.seq {
		return all[n-1].state
	}
	return ""
}
