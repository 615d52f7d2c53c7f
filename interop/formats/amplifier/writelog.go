package amplifier

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
)

// A log adds to events.jsonl.
type log struct {
	*output

	lines   []line                   // that are new
	charged map[string]bool          // requests that steps cover
	spawn   map[skein.SessionID]bool // sessions that calls were said to run
	started bool                     // the log says that the session began
}

// add adds a line to events.jsonl, unless it is there: the session may have returned
// to something that it had rewound.
func (lg *log) add(seq skein.Seq, at skein.Time, name string, data func(*builder)) {
	if seq <= lg.d.After {
		return
	}
	lg.lines = append(lg.lines, line{lg.envelope(at, "INFO", name, nil, data), seq})
}

// envelope makes a line of the log; promoted members come before the data.
func (lg *log) envelope(at skein.Time, lvl, name string, promoted, data func(*builder)) lines.Rope {
	if at == 0 {
		at = skein.At(lg.d.Now)
	}
	b := (&builder{}).str("ts", stamp(at)).str("lvl", lvl).put("schema", []byte(`{"name":"amplifier.log","ver":"1.0.0"}`))
	b.str("event", name).str("session_id", lg.id)
	if promoted != nil {
		promoted(b)
	}
	return b.object("data", data).rope()
}

// events adds what the log has besides messages: the beginning of the session, what
// was noted from Amplifier's own log, the cost of requests, which calls ran which
// sessions.
func (lg *log) events() error {
	for _, e := range lg.d.Events {
		if e.Kind == skein.KindNoted && e.Seq > lg.d.Session.Base && lg.d.After == 0 {
			if err := lg.noted(e); err != nil {
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
			lg.charged[s.Request] = true
		}
		if e.Seq > lg.d.After && s.Phase == "finish" {
			lg.response(e.Seq, e.Time, s.Provider, s.Model, s.Usage, s.Error)
		}
	}
	for _, e := range lg.d.Events {
		if e.Seq <= lg.d.After {
			continue
		}
		switch e.Kind {
		case skein.KindCreated:
			if e.Seq > lg.d.Session.Base && !lg.started {
				parent := []byte("null")
				if lg.parent != "" {
					parent = appendQuoted(nil, lg.parent)
				}
				lg.add(e.Seq, e.Time, "session:start", func(b *builder) { b.put("parent_id", parent) })
			}
		case skein.KindTool:
			lg.spawned(e)
		case skein.KindResumed:
			lg.add(e.Seq, e.Time, "session:resume", func(*builder) {})
		case skein.KindEnded:
			p, err := skein.Decode[skein.Program](e)
			if err != nil {
				return err
			}
			lg.add(e.Seq, e.Time, "session:end", func(b *builder) { b.opt("status", p.How) })
		case skein.KindCompacted:
			lg.losses.Add(e.Seq, "compaction: left out, Amplifier has the whole conversation and compacts what it shows")
		}
	}
	return nil
}

// noted restores members of metadata.json that this package does not know, and lines
// of the log that make no other events.
func (lg *log) noted(e skein.Event) error {
	n, err := skein.Decode[skein.Noted](e)
	if err != nil {
		return err
	}
	o, err := parse(n.Data)
	switch {
	case n.Name == Name+":metadata" && err == nil:
		lg.meta = o
	case strings.HasPrefix(n.Name, Name+":") && err == nil && o.str("event") != "":
		if o.str("event") == "session:start" {
			lg.started = true
		}
		var all object
		for _, m := range o {
			if all = append(all, m); m.name == "event" {
				all.setStr("session_id", lg.id)
			}
		}
		lg.lines = append(lg.lines, line{lines.RopeOf(appendValue(nil, all.without())), e.Seq})
	default:
		lg.losses.Add(e.Seq, "note: left out")
	}
	return nil
}

// spawned logs which session a call runs.
func (lg *log) spawned(e skein.Event) {
	s, err := skein.Decode[skein.ToolState](e)
	if err != nil || s.Child == "" || lg.spawn[s.Child] {
		return
	}
	lg.spawn[s.Child] = true
	id := childID(s.Child)
	if spot, ok := lg.d.Other(s.Child); ok {
		id = spot.ID
	}
	lg.add(e.Seq, e.Time, "delegate:agent_spawned", func(b *builder) {
		b.str("sub_session_id", id).str("parent_session_id", lg.id).str("tool_call_id", s.Call)
	})
}

// charge adds the cost of a message, if no step covers it.
func (lg *log) charge(e skein.Entry) {
	m := e.Message
	if e.Seq <= lg.d.After || m.Usage == nil || m.Request != "" && lg.charged[m.Request] {
		return
	}
	lg.response(e.Seq, e.Time, m.Provider, m.Model, m.Usage, nil)
}

// response adds an llm:response. Amplifier sums cost_usd when it resumes.
func (lg *log) response(seq skein.Seq, at skein.Time, provider, model string, u *skein.Usage, failed *skein.ErrorInfo) {
	status, lvl := "ok", "INFO"
	if failed != nil {
		status, lvl = "error", "ERROR"
	}
	promoted := func(b *builder) {
		if b.str("status", status); failed != nil {
			b.object("error", func(b *builder) { b.opt("type", failed.Kind).str("msg", failed.Message) })
		}
	}
	body := lg.envelope(at, lvl, "llm:response", promoted, func(b *builder) {
		if b.opt("provider", provider).opt("model", model); u != nil {
			b.put("usage", costs(provider, *u))
		}
	})
	lg.lines = append(lg.lines, line{body, seq})
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
