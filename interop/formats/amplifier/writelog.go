package amplifier

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// log adds a line to events.jsonl, unless it is there: the session may have returned
// to something that it had rewound.
func (w *writing) log(seq skein.Seq, at skein.Time, name string, data func(*builder)) {
	if seq <= w.d.After {
		return
	}
	w.logged = append(w.logged, line{w.envelope(at, "INFO", name, nil, data), seq})
}

// envelope makes a line of the log; promoted members come before the data.
func (w *writing) envelope(at skein.Time, lvl, name string, promoted, data func(*builder)) []byte {
	if at == 0 {
		at = skein.At(w.d.Now)
	}
	b := (&builder{}).str("ts", stamp(at)).str("lvl", lvl).put("schema", []byte(`{"name":"amplifier.log","ver":"1.0.0"}`))
	b.str("event", name).str("session_id", w.id)
	if promoted != nil {
		promoted(b)
	}
	return b.object("data", data).value()
}

// events adds what the log has besides messages: the beginning of the session, what
// was noted from Amplifier's own log, the cost of requests, which calls ran which
// sessions.
func (w *writing) events() error {
	for _, e := range w.d.Events {
		if e.Kind == skein.KindNoted && e.Seq > w.d.Session.Base && w.d.After == 0 {
			if err := w.noted(e); err != nil {
				return err
			}
		}
		if e.Kind != skein.KindStep {
			continue
		}
		s, err := skein.Decode[skein.Step](e)
		if err != nil {
			return err
		}
		if s.Request != "" && s.Usage != nil {
			w.charged[s.Request] = true
		}
		if e.Seq > w.d.After && s.Phase == "finish" {
			w.response(e.Seq, e.Time, s.Provider, s.Model, s.Usage, s.Error)
		}
	}
	for _, e := range w.d.Events {
		if e.Seq <= w.d.After {
			continue
		}
		switch e.Kind {
		case skein.KindCreated:
			if e.Seq > w.d.Session.Base && !w.started {
				parent := []byte("null")
				if w.parent != "" {
					parent = appendQuoted(nil, w.parent)
				}
				w.log(e.Seq, e.Time, "session:start", func(b *builder) { b.put("parent_id", parent) })
			}
		case skein.KindTool:
			w.spawned(e)
		case skein.KindResumed:
			w.log(e.Seq, e.Time, "session:resume", func(*builder) {})
		case skein.KindEnded:
			p, err := skein.Decode[skein.Program](e)
			if err != nil {
				return err
			}
			w.log(e.Seq, e.Time, "session:end", func(b *builder) { b.opt("status", p.How) })
		case skein.KindCompacted:
			w.losses.Add(e.Seq, "compaction: left out, Amplifier has the whole conversation and compacts what it shows")
		}
	}
	return nil
}

// noted restores members of metadata.json that this package does not know, and lines
// of the log that make no other events.
func (w *writing) noted(e skein.Event) error {
	n, err := skein.Decode[skein.Noted](e)
	if err != nil {
		return err
	}
	o, err := parse(n.Data)
	switch {
	case n.Name == Name+":metadata" && err == nil:
		w.meta = o
	case strings.HasPrefix(n.Name, Name+":") && err == nil && o.str("event") != "":
		if o.str("event") == "session:start" {
			w.started = true
		}
		var all object
		for _, m := range o {
			if all = append(all, m); m.name == "event" {
				all.setStr("session_id", w.id)
			}
		}
		w.logged = append(w.logged, line{appendValue(nil, all.without()), e.Seq})
	default:
		w.losses.Add(e.Seq, "note: left out")
	}
	return nil
}

// spawned logs which session a call runs.
func (w *writing) spawned(e skein.Event) {
	s, err := skein.Decode[skein.ToolState](e)
	if err != nil || s.Child == "" || w.spawn[s.Child] {
		return
	}
	w.spawn[s.Child] = true
	id := childID(s.Child)
	if spot, ok := w.d.Other(s.Child); ok {
		id = spot.ID
	}
	w.log(e.Seq, e.Time, "delegate:agent_spawned", func(b *builder) {
		b.str("sub_session_id", id).str("parent_session_id", w.id).str("tool_call_id", s.Call)
	})
}

// charge adds the cost of a message, if no step covers it.
func (w *writing) charge(e skein.Entry) {
	m := e.Message
	if e.Seq <= w.d.After || m.Usage == nil || m.Request != "" && w.charged[m.Request] {
		return
	}
	w.response(e.Seq, e.Time, m.Provider, m.Model, m.Usage, nil)
}

// response adds an llm:response. Amplifier sums cost_usd when it resumes.
func (w *writing) response(seq skein.Seq, at skein.Time, provider, model string, u *skein.Usage, failed *skein.ErrorInfo) {
	status, lvl := "ok", "INFO"
	if failed != nil {
		status, lvl = "error", "ERROR"
	}
	promoted := func(b *builder) {
		if b.str("status", status); failed != nil {
			b.object("error", func(b *builder) { b.opt("type", failed.Kind).str("msg", failed.Message) })
		}
	}
	body := w.envelope(at, lvl, "llm:response", promoted, func(b *builder) {
		if b.opt("provider", provider).opt("model", model); u != nil {
			b.put("usage", costs(provider, *u))
		}
	})
	w.logged = append(w.logged, line{body, seq})
}

func costs(provider string, u skein.Usage) []byte {
	b := &builder{}
	count := func(name string, n int64) {
		if n != 0 {
			b.put(name, strconv.AppendInt(nil, n, 10))
		}
	}
	if !strings.Contains(provider, "anthropic") {
		u.Input += u.CacheRead
	}
	b.put("input_tokens", strconv.AppendInt(nil, u.Input, 10))
	b.put("output_tokens", strconv.AppendInt(nil, u.Output, 10))
	count("reasoning_tokens", u.Reasoning)
	count("cache_read_tokens", u.CacheRead)
	count("cache_write_tokens", u.CacheWrite)
	if u.Reported > 0 {
		b.str("cost_usd", strings.TrimRight(big.NewRat(u.Reported, 1e9).FloatString(9), "0"))
	}
	return b.value()
}
