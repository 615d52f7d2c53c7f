package otelgenai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// write makes the traces of a session: a span for each answer of a model, with
// what was said since the one before.
//
// The error wraps [skein.ErrInvalid] if there is nothing to write, or the existing
// document cannot be continued.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := &writer{d: d, id: string(d.Session.ID)}
	path := fileOf(d.Session.ID)
	if d.After > 0 && d.Known != nil {
		path = d.Path
		if err := w.look(); err != nil {
			return interop.Written{}, err
		}
	}
	entries, err := d.Entries()
	if err != nil {
		return interop.Written{}, err
	}
	w.tell(entries)
	if len(w.spans) == 0 {
		return interop.Written{}, fmt.Errorf("%w: no messages", skein.ErrInvalid)
	}
	return interop.Written{ID: w.id, Texts: []interop.SourceText{{Path: path, Lines: w.document()}}, Losses: w.losses}, nil
}

// A writer is one call of write.
type writer struct {
	d      interop.Draft
	id     string       // of the conversation
	waits  []messageOut // what was said since the last answer
	first  skein.Seq    // and its first event
	since  skein.Time   // and when
	spans  []lines.Rope // with the resource around each
	seqs   []skein.Seq
	before [][]byte // pieces of the existing document, to the last span's
	after  [][]byte // and after that
	losses interop.Losses
}

// fileOf returns the name of a session's file.
func fileOf(id skein.SessionID) string {
	clean := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_.~", r)
	}
	name := string(id)
	if strings.ContainsFunc(name, func(r rune) bool { return !clean(r) }) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
		name = "otel-" + short(name)
	}
	return name + ".otlp.json"
}

// look reads the existing document: it must have one list of spans, in an object.
func (w *writer) look() error {
	for rec, err := range w.d.Known {
		if err != nil {
			return err
		}
		p, err := interop.Piece(rec.Raw)
		if err != nil {
			return fmt.Errorf("%w: %w", skein.ErrInvalid, err)
		}
		w.before = append(w.before, p)
	}
	n := len(w.before) - 1
	if n < 2 || !strings.HasPrefix(string(loose.Element(w.before[n])), "]") || !strings.HasSuffix(strings.TrimSpace(string(w.before[0])), "[") ||
		!strings.Contains(string(w.before[0]), `"`+spansList+`"`) {
		return fmt.Errorf("%w: %s is not a document of traces that can be continued", skein.ErrInvalid, w.d.Path)
	}
	w.before, w.after = w.before[:n], w.before[n:]
	if o := w.d.Session.Origin; o != nil && o.ID != "" {
		w.id = o.ID
	}
	return nil
}

// tell makes the spans of entries and events.
func (w *writer) tell(entries []skein.Entry) {
	said := map[skein.Seq]*skein.Entry{}
	for i := range entries {
		said[entries[i].Seq] = &entries[i]
	}
	var last skein.Event
	for _, e := range w.d.Events {
		if e.Seq <= w.d.After {
			continue
		}
		en := said[e.Seq]
		switch {
		case en != nil && en.Rewound:
			w.losses.Add(en.Seq, "rewound messages: left out")
		case en != nil:
			w.message(en)
		default:
			w.event(e)
		}
		if n := len(w.seqs); n > 0 && len(w.waits) == 0 {
			w.seqs[n-1] = max(w.seqs[n-1], e.Seq)
		}
		last = e
	}
	if len(w.waits) > 0 {
		w.span(last.Seq, last.Time, nil, nil)
	}
}

// event reports what is lost of an event that is not a message.
func (w *writer) event(e skein.Event) {
	switch e.Kind {
	case skein.KindNoted:
		w.losses.Add(e.Seq, "notes: left out")
	case skein.KindCompacted:
		if c, err := skein.Decode[skein.Compacted](e); err == nil && !c.Failed {
			w.losses.Add(e.Seq, "compaction: its summary as a message of the system")
			w.wait(e.Seq, e.Time, messageOut{Role: "system", Parts: []any{textOut{"text", skein.Text(c.Summary)}}})
		}
	case skein.KindStep:
		if s, err := skein.Decode[skein.Step](e); err == nil && s.Usage != nil {
			m := skein.Message{Provider: s.Provider, Model: s.Model, Request: s.Request, Usage: s.Usage}
			w.span(e.Seq, e.Time, &m, nil)
		}
	case skein.KindTool:
		w.losses.Add(e.Seq, "states of tools: left out")
	}
}

func (w *writer) wait(seq skein.Seq, at skein.Time, m messageOut) {
	if len(w.waits) == 0 {
		w.first, w.since = seq, at
	}
	w.waits = append(w.waits, m)
}

// message collects what was said, and makes a span of an answer.
func (w *writer) message(en *skein.Entry) {
	m := &en.Message
	out := messageOut{Role: string(m.Role), Parts: []any{}}
	extra := extrasOut{Synthetic: m.Synthetic, Interrupted: m.Interrupted}
	if m.Role == skein.RoleSteer {
		out.Role, extra.Role = "user", string(m.Role)
	}
	if extra != (extrasOut{}) {
		out.Skein = &extra
	}
	for i := range m.Parts {
		if p := w.part(en, &m.Parts[i]); p != nil {
			out.Parts = append(out.Parts, p)
		}
	}
	if m.Role != skein.RoleAssistant {
		w.wait(en.Seq, en.Time, out)
		return
	}
	stop := or(m.Stop, "stop")
	if m.Error != nil {
		stop = "error"
	}
	out.Finish = &stop
	w.span(en.Seq, en.Time, m, &out)
}

// span makes the span of a request: m is the answer, out the answer in the
// conventions' form.
func (w *writer) span(seq skein.Seq, at skein.Time, m *skein.Message, out *messageOut) {
	if len(w.waits) == 0 {
		w.since = at
	}
	if m == nil {
		m = &skein.Message{}
	}
	s := &w.d.Session
	model := or(m.Model, s.Model)
	sp := spanOut{Trace: hexOf(w.id, 16), Span: hexOf(fmt.Sprint(w.id, " ", seq), 8), Name: strings.TrimSpace("chat " + model), Kind: 3, Start: nanosOf(min(w.since, at)), End: nanosOf(at)}
	add := func(a attribute) { sp.Attributes = append(sp.Attributes, a) }
	text := func(key, v string) {
		if v != "" {
			add(stringAttr(key, skein.Text(v).UTF8()))
		}
	}
	text("gen_ai.operation.name", "chat")
	text("gen_ai.provider.name", or(m.Provider, s.Provider))
	text("gen_ai.request.model", model)
	text(attrConversation, w.id)
	text("gen_ai.agent.name", or(m.Agent, s.Agent))
	text("gen_ai.response.id", m.Request)
	w.usage(m.Usage, add)
	yes := true
	add(attribute{attrDelta, valueOut{Bool: &yes}})
	if len(w.spans) == 0 && w.before == nil {
		text("skein.title", s.Title)
		text("skein.cwd", s.Cwd)
		text(attrAddress, interop.Address(s.Checkout))
		text(attrBranch, s.Checkout.Branch)
		text(attrCommit, s.Checkout.Commit)
	}
	if len(w.waits) > 0 {
		add(attribute{attrIn, valueOut{String: interop.JSON(w.waits)}})
	}
	if out != nil {
		text("gen_ai.response.model", m.Model)
		add(attribute{"gen_ai.response.finish_reasons", valueOut{Array: &listOut{[]valueOut{{String: *out.Finish}}}}})
		add(attribute{attrOut, valueOut{String: interop.JSON([]*messageOut{out})}})
	}
	if m.Error != nil {
		text("error.type", or(m.Error.Kind, "error"))
		sp.Status = &statusOut{2, m.Error.Message}
	}
	w.waits = nil
	res := resourceOut{Resource: resourceAttrs{[]attribute{stringAttr("service.name", or(s.Agent, "skein"))}}, Scopes: []scopeOut{{scopeName{"skein"}, []spanOut{sp}}}}
	w.spans, w.seqs = append(w.spans, interop.JSON(res)), append(w.seqs, seq)
}

func (w *writer) usage(u *skein.Usage, add func(attribute)) {
	if u == nil {
		return
	}
	for _, c := range []struct {
		key string
		n   int64
	}{
		{"input_tokens", u.Prompt()},
		{"output_tokens", u.Output},
		{"cache_read.input_tokens", u.CacheRead},
		{"cache_creation.input_tokens", u.CacheWrite},
		{"reasoning.output_tokens", u.Reasoning},
	} {
		if c.n != 0 {
			add(intAttr("gen_ai.usage."+c.key, c.n))
		}
	}
	if u.Reported != 0 {
		cost := float64(u.Reported) / 1e9
		add(attribute{"skein.cost_usd", valueOut{Double: &cost}})
	}
}

func hexOf(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:n])
}

func nanosOf(t skein.Time) string { return strconv.FormatInt(max(0, int64(t))*1_000_000, 10) }

// document returns the lines of the document.
func (w *writer) document() (out []interop.OutLine) {
	add := func(piece lines.Rope, seq skein.Seq) {
		out = append(out, interop.OutLine{Body: interop.PieceRope(piece), Seq: seq})
	}
	line := func(b []byte, seq skein.Seq) { add(lines.RopeOf(b), seq) }
	for _, p := range w.before {
		line(p, w.d.After)
	}
	if w.before == nil {
		line([]byte(`{"`+spansList+`":[`+"\n"), 0)
		w.after = [][]byte{[]byte("\n]}\n")}
	}
	for i, s := range w.spans {
		var piece lines.Rope
		if i > 0 || w.before != nil {
			piece.Append([]byte(",\n"))
		}
		piece.Join(s)
		add(piece, w.seqs[i])
	}
	for _, p := range w.after {
		line(p, w.seqs[len(w.seqs)-1])
	}
	return out
}
