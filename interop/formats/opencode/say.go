package opencode

import (
	"encoding/base64"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A callOut is a call's outcome.
type callOut struct {
	result *skein.Result
	entry  *skein.Entry
	told   bool
}

// calls writes tool calls with their results.
type calls struct {
	*output

	outs map[string]*callOut
}

// charges are the requests whose usage is written with answers.
type charges struct {
	*output

	steps map[skein.Seq][]skein.Step // by the message that they belong to
	spent skein.Usage                // of what is new
}

// say makes the rows of messages, and of the newest compaction where what it
// covers ends.
func (w *writer) say(entries []skein.Entry) {
	w.calls.results(entries)
	w.charges.hang(entries)
	sum := w.compaction()
	for i := range entries {
		e := &entries[i]
		if sum != nil && e.Seq > sum.To {
			w.summary(sum)
			sum = nil
		}
		switch {
		case e.Seq <= w.keep:
		case e.Rewound && e.Seq > w.d.After:
			w.losses.Add(e.Seq, "rewound messages: left out")
		case e.Rewound:
		case e.Message.Role == skein.RoleAssistant:
			w.answer(e)
		case e.Message.Role == skein.RoleTool:
			w.calls.unpaired(e)
		case e.Message.Role == skein.RoleSystem:
			w.losses.Add(e.Seq, "system messages: left out")
		default:
			w.typed(e)
		}
	}
	if sum != nil {
		w.summary(sum)
	}
}

// results collects the first result of each call.
func (cs *calls) results(entries []skein.Entry) {
	for i := range entries {
		for _, p := range entries[i].Message.Parts {
			if p.Result != nil && cs.outs[p.Result.CallID] == nil && !entries[i].Rewound {
				cs.outs[p.Result.CallID] = &callOut{result: p.Result, entry: &entries[i]}
			}
		}
	}
}

// hang assigns each request that has a step of its own to the answer before it.
func (ch *charges) hang(entries []skein.Entry) {
	seen := map[string]bool{}
	for _, ev := range ch.d.Events {
		s, err := skein.Decode[skein.Step](ev)
		if ev.Kind != skein.KindStep || err != nil || s.Usage == nil || s.Request != "" && seen[s.Request] || ev.Seq <= ch.d.After {
			continue
		}
		seen[s.Request] = s.Request != ""
		var of skein.Seq
		for i := range entries {
			if e := &entries[i]; e.Seq < ev.Seq && e.Message.Role == skein.RoleAssistant && !e.Rewound {
				of = e.Seq
			}
		}
		if of <= ch.keep {
			ch.losses.Add(ev.Seq, "request without an answer: left out")
			continue
		}
		ch.steps[of] = append(ch.steps[of], s)
	}
}

// message adds a message's row and returns its ID.
func (o *output) message(seq skein.Seq, at skein.Time, data func(at skein.Time) any) (id string, _ skein.Time) {
	o.n = (o.n + 1) & idBits
	o.time = max(o.time, at)
	id = messageID(o.n, o.id)
	ms := int64(o.time)
	o.put(seq, "message", values{
		"id": id, "session_id": o.id, "time_created": ms, "time_updated": ms, "data": string(skein.MustJSON(data(o.time))),
	})
	o.time++ // the program sorts by time
	return id, o.time - 1
}

// part adds a part's row.
func (o *output) part(seq skein.Seq, of string, at skein.Time, data any) {
	o.n = (o.n + 1) & idBits
	ms := int64(at)
	o.put(seq, "part", values{
		"id": partID(o.n, o.id), "message_id": of, "session_id": o.id, "time_created": ms, "time_updated": ms, "data": interop.JSON(data),
	})
}

// typed writes a user message.
func (w *writer) typed(e *skein.Entry) {
	if e.Message.Role == skein.RoleSteer {
		w.losses.Add(e.Seq, "steering: a user's message")
	}
	id, at := w.asked(e.Seq, e.Time)
	some := false
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		some = w.piece(e, p, id, at) || some
	}
	if !some {
		w.part(e.End, id, at, textOut{Type: "text", Synthetic: true})
	}
	w.cover(e.End)
}

// asked adds the row of a user message.
func (w *writer) asked(seq skein.Seq, when skein.Time) (id string, at skein.Time) {
	id, at = w.message(seq, when, func(at skein.Time) any {
		out := userOut{Role: "user", Time: timeOut{Created: int64(at)}, Agent: agentName}
		if provider, model := w.modelOf("", ""); w.ours && model != "" {
			out.Model = &askedOf{provider, model}
		} else if w.at.model != (askedOf{}) { // opencode opens no session in an editor without one
			out.Model = &w.at.model
		}
		return out
	})
	w.user = id
	return id, at
}

// piece writes a part of a user message. It reports whether there is one.
func (w *writer) piece(e *skein.Entry, p *skein.Part, of string, at skein.Time) bool {
	switch {
	case p.Result != nil:
		w.calls.unpairedResult(e, p.Result)
		return false
	case p.File != nil:
		f, ok := w.file(e, p.File)
		if ok {
			w.part(e.Seq, of, at, f)
		}
		return ok
	case p.Kind == skein.PartAgent:
		w.part(e.Seq, of, at, agentOut{"agent", p.Text.UTF8()})
	case p.Kind == skein.PartText || p.Kind == skein.PartSummary:
		w.part(e.Seq, of, at, textOut{Type: "text", Text: p.Text, Synthetic: p.Synthetic || e.Message.Synthetic})
	default:
		w.losses.Add(e.Seq, "parts of other kinds: left out")
		return false
	}
	return true
}

// maxInline is the size of the largest file that is put into a row, in bytes.
const maxInline = 16 << 20

// file returns a file with its bytes in its URL.
func (o *output) file(e *skein.Entry, f *skein.File) (fileOut, bool) {
	out := fileOut{Type: "file", Mime: f.Media, Name: f.Name, URL: f.URL}
	if out.Mime == "" {
		out.Mime = "application/octet-stream"
	}
	if f.Blob == "" {
		if f.URL == "" {
			o.losses.Add(e.Seq, "files whose bytes are not at hand: left out")
		}
		return out, f.URL != ""
	}
	data, err := o.d.Blob(f.Blob)
	if err != nil || len(data) > maxInline {
		o.losses.Add(e.Seq, "files whose bytes are not at hand, or too many: left out")
		return out, false
	}
	out.URL = "data:" + out.Mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	return out, true
}

// unpaired reports what is not written with a call.
func (cs *calls) unpaired(e *skein.Entry) {
	for _, p := range e.Message.Parts {
		if p.Result != nil {
			cs.unpairedResult(e, p.Result)
		} else {
			cs.losses.Add(e.Seq, "what a tool said besides its result: left out")
		}
	}
}

func (cs *calls) unpairedResult(e *skein.Entry, r *skein.Result) {
	switch did := cs.outs[r.CallID]; {
	case did == nil || did.result != r:
		cs.losses.Add(e.Seq, "a second result of a call: left out")
	case !did.told:
		cs.losses.Add(e.Seq, "results whose call is not written: left out")
	}
}

// modelOf returns a model and its provider, as the program names them: the session's
// if none is given.
func (o *output) modelOf(provider, model string) (string, string) {
	if model == "" {
		provider, model = o.d.Session.Provider, o.d.Session.Model
	}
	if provider == "" && model != "" {
		provider = "unknown"
		for before, of := range vendors() {
			if strings.HasPrefix(model, before) {
				provider = of
			}
		}
	}
	return provider, model
}

// vendors returns the vendors by prefix of model names.
func vendors() map[string]string {
	return map[string]string{"claude": "anthropic", "gpt-": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "codex": "openai", "gemini": "google"}
}
