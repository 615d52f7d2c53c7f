package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// stream makes the request r, shows the pieces as they come, and returns the
// answer. With an error, the answer is what had come, marked as interrupted, or
// nil if nothing had. Its parts have the times between which they came.
func stream(ctx context.Context, model llm.Provider, r llm.Request, now func() skein.Time, show func(llm.Delta)) (m *skein.Message, err error) {
	var text, reasoning strings.Builder
	var came []timeSpan
	for d, e := range model.Stream(ctx, r) {
		came = spanned(came, d, now())
		show(d)
		text.WriteString(d.Text)
		reasoning.WriteString(d.Reasoning)
		if d.Message != nil {
			m = d.Message
		}
		if e != nil {
			err = e
			break
		}
	}
	if err == nil && (m == nil || m.Interrupted) {
		err = &llm.Error{Kind: llm.ErrCut, Message: "the stream ended before the answer did"}
	}
	if err != nil {
		m = broken(m, text.String(), reasoning.String())
	}
	return timed(m, came), err
}

// A timeSpan is the time in which consecutive pieces of one kind came.
type timeSpan struct {
	kind       skein.PartKind
	start, end skein.Time
}

// spanned adds d, which came at a time, to came.
func spanned(came []timeSpan, d llm.Delta, at skein.Time) []timeSpan {
	var kind skein.PartKind
	switch {
	case d.Call != "":
		kind = skein.PartCall
	case d.Text != "":
		kind = skein.PartText
	case d.Reasoning != "":
		kind = skein.PartReasoning
	}
	last := len(came) - 1
	if kind != "" && (last < 0 || kind == skein.PartCall || came[last].kind != kind) {
		return append(came, timeSpan{kind, at, at})
	}
	if last >= 0 {
		came[last].end = at // a call's input comes without text to show
	}
	return came
}

// timed returns m with the times of its parts, each of which came in the next
// span of its kind.
func timed(m *skein.Message, came []timeSpan) *skein.Message {
	if m == nil {
		return nil
	}
	t := *m
	t.Parts = slices.Clone(m.Parts)
	for i := range t.Parts {
		p := &t.Parts[i]
		at := slices.IndexFunc(came, func(s timeSpan) bool { return s.kind == p.Kind })
		if at < 0 || p.Start != 0 {
			continue
		}
		p.Start, p.End = came[at].start, came[at].end
		came = came[at+1:]
	}
	return &t
}

// show shows people a piece of an answer.
func (q *requester) show(d llm.Delta) {
	for _, u := range []Update{{Kind: Reasoning, Text: d.Reasoning}, {Kind: Text, Text: d.Text}, {Kind: Calling, Text: d.Call}} {
		if u.Text != "" {
			q.o.Observe(u)
		}
	}
}

// broken returns what had come of an answer that broke off: m, or what was
// shown of it. Calls are left out, because they will not be run.
func broken(m *skein.Message, text, reasoning string) *skein.Message {
	if m == nil {
		m = &skein.Message{}
		if reasoning != "" {
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(reasoning)})
		}
		if text != "" {
			m.Parts = append(m.Parts, skein.TextPart(text))
		}
		if len(m.Parts) == 0 {
			return nil
		}
	}
	b := *m
	b.Interrupted = true
	b.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p skein.Part) bool { return p.Kind == skein.PartCall })
	return &b
}

// filled returns a copy of the answer m to the request s with the fields that
// the provider left out. A request ID that was charged before belongs to
// another answer, and some servers restart the numbering of their calls each
// time. Fields that must be JSON but are not cannot be stored as they are.
func (q *requester) filled(m *skein.Message, s *skein.Step, shown []skein.Message) *skein.Message {
	f := *m
	f.ID, f.Role = "", skein.RoleAssistant // the event is the whole message
	f.Provider, f.Model = cmp.Or(m.Provider, s.Provider), cmp.Or(m.Model, s.Model)
	if f.Request == "" || q.charged[f.Request] {
		f.Request = string(skein.NewSessionID(q.o.Now()))
	}
	q.charged[f.Request] = true
	f.Meta = validJSON(m.Meta)
	f.Parts = append([]skein.Part{}, m.Parts...)
	for i := range shown {
		for _, c := range callsOf(&shown[i]) {
			q.called[c.ID] = true
		}
	}
	for i := range f.Parts {
		p := &f.Parts[i]
		p.Raw, p.Meta = validJSON(p.Raw), validJSON(p.Meta)
		if p.Kind != skein.PartCall || p.Call == nil {
			continue
		}
		c := *p.Call
		if len(c.Input) > 0 && !json.Valid(c.Input) {
			c.Input = skein.AppendQuoted(nil, string(c.Input))
		}
		if p.Call = &c; c.ID == "" || q.called[c.ID] {
			c.ID = fmt.Sprintf("call_%s_%d", skein.NewSessionID(q.o.Now())[24:], i)
		}
		q.called[c.ID] = true
	}
	return &f
}

// validJSON returns raw, or nil if it is not valid JSON.
func validJSON(raw json.RawMessage) json.RawMessage {
	if !json.Valid(raw) {
		return nil
	}
	return raw
}

// count adds the usage of the answer m to that of the turn.
func (u *turn) count(m *skein.Message) {
	if m != nil && m.Usage != nil {
		usage := *m.Usage
		usage.Requests = 1
		u.out.Usage = u.out.Usage.Plus(usage)
	}
}
