package atif

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
)

// A writer is one call of write.
type writer struct {
	d      interop.Draft
	path   string
	steps  []stepOut
	seqs   []skein.Seq       // last event that each step covers
	calls  map[string]called // of the agent's steps
	child  map[string]skein.SessionID
	images []interop.SourceText
	used   skein.Usage
	paid   map[string]bool // provider request IDs
	known  known           // of an existing document that is continued
	losses interop.Losses
}

// called is the position of a call.
type called struct {
	step int
	done bool
}

// write makes the document of a session, or extends the existing one with the new
// steps.
//
// The error wraps [skein.ErrInvalid] if there is nothing to write, or if the existing
// document cannot be continued.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := &writer{d: d, calls: map[string]called{}, child: map[string]skein.SessionID{}, paid: map[string]bool{}}
	if w.path = fileOf(d.Session.ID); d.After > 0 && d.Known != nil {
		w.path = d.Path
		if err := w.look(); err != nil {
			return interop.Written{}, err
		}
	}
	entries, err := d.Entries()
	if err != nil {
		return interop.Written{}, err
	}
	w.tell(entries)
	if len(w.steps) == 0 {
		return interop.Written{}, fmt.Errorf("%w: no messages", skein.ErrInvalid)
	}
	own := interop.SourceText{Path: w.path}
	if w.known.pieces == nil {
		own.Lines = w.whole()
	} else if own.Lines, err = w.longer(); err != nil {
		return interop.Written{}, err
	}
	return interop.Written{ID: w.id(), Texts: append([]interop.SourceText{own}, w.images...), Losses: w.losses}, nil
}

func (w *writer) id() string {
	if w.known.id != "" {
		return w.known.id
	}
	return string(w.d.Session.ID)
}

// fileOf returns the name of a session's file.
func fileOf(id skein.SessionID) string {
	clean := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.~", r)
	}
	name := string(id)
	if strings.ContainsFunc(name, func(r rune) bool { return !clean(r) }) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
		name = Name + "-" + short(name)
	}
	return name + ".trajectory.json"
}

// tell makes the steps of entries and events.
func (w *writer) tell(entries []skein.Entry) {
	said := map[skein.Seq]*skein.Entry{}
	for i := range entries {
		said[entries[i].Seq] = &entries[i]
	}
	for _, e := range w.d.Events {
		if e.Kind != skein.KindTool {
			continue
		}
		if s, err := skein.Decode[skein.ToolState](e); err == nil && s.Child != "" {
			w.child[s.Call] = s.Child
		}
	}
	for _, e := range w.d.Events {
		if e.Seq <= w.d.After {
			w.note(e)
			continue
		}
		switch en := said[e.Seq]; {
		case en != nil && en.Rewound:
			w.losses.Add(en.Seq, "rewound messages: left out")
		case en != nil:
			w.message(en)
		default:
			w.event(e)
		}
		if n := len(w.seqs); n > 0 {
			w.seqs[n-1] = max(w.seqs[n-1], e.Seq)
		}
	}
}

// note remembers an event that the document already covers.
func (w *writer) note(e skein.Event) {
	if e.Kind != skein.KindSaid {
		return
	}
	if m, err := skein.Decode[skein.Message](e); err == nil && m.Request != "" {
		w.paid[m.Request] = true
	}
}

// event makes the step of an event that is not a message, if there is one for it.
func (w *writer) event(e skein.Event) {
	switch e.Kind {
	case skein.KindCompacted:
		if c, err := skein.Decode[skein.Compacted](e); err == nil && !c.Failed {
			w.compacted(e, c)
		}
	case skein.KindStep:
		if s, err := skein.Decode[skein.Step](e); err == nil && s.Usage != nil {
			w.pays(e, s)
		}
	case skein.KindNoted:
		w.losses.Add(e.Seq, "notes: left out")
	case skein.KindAmended, skein.KindRewound, skein.KindSaid, skein.KindTool, skein.KindTitled, skein.KindCreated,
		skein.KindChanged, skein.KindResumed, skein.KindEnded: // seen in what they change, or not part of the conversation
	default:
		w.losses.Add(e.Seq, "events of other kinds: left out")
	}
}

func (w *writer) compacted(e skein.Event, c skein.Compacted) {
	if len(c.Opaque) > 0 {
		w.losses.Add(e.Seq, "compaction: what only its provider can read")
	}
	w.step(e.Seq, stepOut{
		Time: stamp(e.Time), Source: "system", Message: c.Summary,
		Extra: &extraOut{Context: &contextOut{"compaction", "replace", c.Before, c.After, c.Trigger}},
	})
}

// pays adds a request's usage to the agent's newest step, unless it is already there.
func (w *writer) pays(e skein.Event, s skein.Step) {
	if s.Request != "" && w.paid[s.Request] {
		return
	}
	w.paid[s.Request] = true
	for i, st := range slices.Backward(w.steps) {
		if st.Source == "agent" && st.Metrics == nil {
			w.steps[i].Metrics = metricsOf(*s.Usage)
			w.used = w.used.Plus(*s.Usage)
			return
		}
		if st.Source == "agent" {
			break
		}
	}
	w.losses.Add(e.Seq, "use of requests without an answer: left out")
}

// step adds a step.
func (w *writer) step(seq skein.Seq, s stepOut) {
	s.ID = w.known.steps + len(w.steps) + 1
	s.Copied = w.d.Session.Parent != nil && w.d.Session.Parent.Why == skein.Fork && seq <= w.d.Session.Base
	w.steps, w.seqs = append(w.steps, s), append(w.seqs, seq)
}

func stamp(t skein.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// whole returns the lines of a new document.
func (w *writer) whole() []interop.OutLine {
	s := &w.d.Session
	extra := sessionOut{Title: skein.Text(s.Title).UTF8(), Cwd: s.Cwd, Project: s.Project, Checkout: s.Checkout.Recorded().Known(), Provider: s.Provider}
	if p := s.Parent; p != nil && p.Why == skein.Child {
		extra.Parent, extra.Call = string(p.Session), p.Call
		if spot, ok := w.d.Other(p.Session); ok {
			extra.Parent = spot.ID
		}
	}
	head := headOut{Version: Version, Session: string(s.ID), ID: string(s.ID), Agent: agentOut{or(s.Agent, "skein"), "unknown", s.Model}}
	if extra != (sessionOut{}) {
		head.Extra = &extraOut{Skein: extra}
	}
	b := skein.MustJSON(head)
	first := append([]byte("{\n  "), b[1:len(b)-1]...)
	all := []interop.OutLine{piece0(append(first, ",\n  \"steps\": ["...), 0)}
	for i, st := range w.steps {
		sep := ",\n    "
		if i == 0 {
			sep = "\n    "
		}
		if i == 0 { // the white space is before the first element's piece
			all[0] = piece0(append(first, ",\n  \"steps\": [\n    "...), 0)
			sep = ""
		}
		all = append(all, step([]byte(sep), st, w.seqs[i]))
	}
	end := append([]byte("\n  ],\n  \"final_metrics\": "), skein.MustJSON(finalOf(w.used, len(w.steps)))...)
	return append(all, piece0(append(end, "\n}\n"...), w.seqs[len(w.seqs)-1]))
}

func piece0(b []byte, seq skein.Seq) interop.OutLine {
	return interop.OutLine{Body: lines.RopeOf(interop.PieceLine(b)), Seq: seq}
}

// step returns the line of a step, after what separates it from the one before.
func step(sep []byte, v stepOut, seq skein.Seq) interop.OutLine {
	var piece lines.Rope
	piece.Append(sep)
	piece.Join(interop.JSON(v))
	return interop.OutLine{Body: interop.PieceRope(piece), Seq: seq}
}

// or returns the first that is not empty.
func or(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
