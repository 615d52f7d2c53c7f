package codex

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// marks returns what is to be written for the events that are not messages.
func (w *writer) marks() (all []act, err error) {
	spans, err := skein.OnLine(w.d.Events, lastSeq(w.d.Events))
	if err != nil {
		return nil, err
	}
	for i, e := range w.d.Events {
		facts, err := skein.FactsOf(e)
		if err != nil {
			return nil, err
		}
		if c := facts.Charge; c != nil {
			all = append(all, act{at: e.Seq, tells: e.Seq, spent: true, do: func() error { w.acting = e.Seq; w.charges.spent(e.Time, c); return nil }})
		}
		if !on(spans, e.Seq) {
			continue
		}
		if a, ok := w.mark(i, e); ok {
			all = append(all, a)
		}
	}
	return all, nil
}

// lastSeq returns the seq of the last event, 0 if there are none.
func lastSeq(events []skein.Event) skein.Seq {
	if n := len(events); n > 0 {
		return events[n-1].Seq
	}
	return 0
}

// mark returns what is to be written for one event, and false for nothing.
func (w *writer) mark(i int, e skein.Event) (act, bool) {
	a := act{at: e.Seq, tells: e.Seq}
	switch e.Kind {
	case skein.KindNoted:
		n, err := skein.Decode[skein.Noted](e)
		typ, ok := strings.CutPrefix(n.Name, Name+":")
		typ, _, _ = strings.Cut(typ, "/")
		if err != nil || !ok || typ == typeMeta || typ == "unknown" || len(n.Data) == 0 || n.Data[0] != '{' {
			return a, false
		}
		a.do = func() error { w.acting = e.Seq; w.emit(e.Time, typ, n.Data); return nil }
	case skein.KindTitled:
		t, err := skein.Decode[skein.Titled](e)
		if err != nil || e.Seq <= w.d.After || w.d.After == 0 {
			return a, false // a new rollout is named after the session's title
		}
		a.do = func() error {
			w.named(e.Time, t.Title)
			w.lose(e.Seq, "title: Codex reads the file that it is written to for threads that are new to it")
			return nil
		}
	case skein.KindCompacted:
		c, err := skein.Decode[skein.Compacted](e)
		if err != nil || c.Failed || c.Summary == "" && c.Opaque == nil {
			return a, false
		}
		if c.To > w.d.After { // where it takes effect: what follows is shown whole
			a.at, a.tells = c.To, c.To
		}
		a.do = func() error { w.acting = e.Seq; return w.compacted(i, e, &c) }
	default:
		return a, false
	}
	return a, true
}

type compactedOut struct {
	Message string            `json:"message"`
	History []json.RawMessage `json:"replacement_history"`
}

// compacted writes a summary of everything before. What is between the events that it
// covers and itself, and is in the file already, is repeated.
func (w *writer) compacted(i int, e skein.Event, c *skein.Compacted) error {
	out := compactedOut{Message: c.Summary}
	if w.ours[e.Seq] && len(c.Opaque) > 0 && c.Opaque[0] == '[' && json.Unmarshal(c.Opaque, &out.History) == nil {
		w.emit(e.Time, typeCompact, out)
		return nil
	}
	if c.Opaque != nil {
		w.lose(e.Seq, "a provider's own form of what was compacted: its summary is written")
	}
	out.History = []json.RawMessage{skein.MustJSON(messageOut{Type: "message", Role: "user", Content: []any{textOut{"input_text", "<conversation_summary>\n" + c.Summary + "\n</conversation_summary>"}}})}
	tail := newWriter(&output{d: w.d, id: w.id, ours: w.ours, at: w.at, file: fileState{bare: true}}, w.calls.children)
	if c.To <= w.d.After {
		entries, err := w.d.EntriesOf(i + 1)
		if err != nil {
			return err
		}
		for _, t := range entries {
			if t.Seq > c.To && !t.Rewound {
				if err := tail.entry(&t); err != nil {
					return err
				}
			}
		}
	}
	for _, l := range tail.lines {
		out.History = append(out.History, json.RawMessage(strings.TrimSuffix(string(l.Body.Bytes()), "\n")))
	}
	w.emit(e.Time, typeCompact, out)
	w.emit(e.Time, typeEvent, json.RawMessage(`{"type":"context_compacted"}`))
	return nil
}

type rolledBackOut struct {
	Type string `json:"type"` // thread_rolled_back
	N    int    `json:"num_turns"`
}

// back returns the acts that rewind messages which the file has: Codex can rewind
// from a prompt to the end.
func (w *writer) back(now []skein.Entry) ([]act, error) {
	if w.d.After == 0 {
		return nil, nil
	}
	at := slices.IndexFunc(w.d.Events, func(e skein.Event) bool { return e.Seq > w.d.After })
	if at < 0 {
		return nil, nil
	}
	if w.d.WentBack() {
		w.since = w.d.Events[at].Time
	}
	was, err := w.d.EntriesOf(at)
	if err != nil {
		return nil, err
	}
	gone := map[skein.Seq]bool{}
	for _, e := range now {
		gone[e.Seq] = e.Rewound
	}
	turns, over, left, whole := 0, skein.Seq(0), skein.Seq(0), true
	for _, e := range was {
		switch {
		case e.Rewound:
		case gone[e.Seq]:
			if over == 0 {
				over, whole = e.Seq, e.Message.Typed()
			}
			if e.Message.Typed() {
				turns++
			}
		case over != 0:
			whole = false
		default:
			left = e.End
		}
	}
	switch {
	case over == 0:
		return nil, nil
	case !whole:
		w.losses.Add(over, "rewound messages in the middle of a turn: they stay where they were written before")
		return nil, nil
	}
	return []act{{at: left, tells: left, do: func() error {
		w.acting = w.d.Events[at].Seq
		w.emit(w.d.Events[at].Time, typeEvent, rolledBackOut{"thread_rolled_back", turns})
		return nil
	}}}, nil
}
