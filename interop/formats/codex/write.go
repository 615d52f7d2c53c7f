package codex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// write makes the rollout of a session, or what is new in it.
//
// The error wraps [skein.ErrInvalid] if there is nothing that Codex could store;
// others are those of the events and of the store.
func write(_ context.Context, d interop.Draft) (interop.Written, error) {
	w := newWriter(&output{d: d, ours: fromCodex(d.Events)}, children(d.Events))
	if err := w.begin(); err != nil {
		return interop.Written{}, err
	}
	acts, err := w.acts()
	if err != nil {
		return interop.Written{}, err
	}
	for i, a := range acts {
		if w.quiet = a.old; !a.old && (i == 0 || acts[i-1].old) {
			w.seq = 0
		}
		w.seq = max(w.seq, a.tells)
		if err := a.do(); err != nil {
			return interop.Written{}, fmt.Errorf("event %d: %w", a.tells, err)
		}
	}
	w.quiet = false
	w.turn.end()
	if d.After == 0 && !w.some {
		return interop.Written{}, fmt.Errorf("%w: no messages in it", skein.ErrInvalid)
	}
	out := interop.Written{ID: w.id, Texts: []interop.SourceText{{Path: w.path, Lines: w.lines}}, Losses: w.losses}
	if len(w.names) > 0 {
		out.Texts = append(out.Texts, interop.SourceText{Path: "session_index.jsonl", Lines: w.names, Log: true})
	}
	return out, nil
}

// A writer is one call of write. Its parts share one output.
type writer struct {
	*output

	turn     *turn
	messages *messages
	calls    *calls
	charges  *charges
}

// newWriter returns a writer to out. children are sessions by the calls that started
// them.
func newWriter(out *output, children map[string]skein.SessionID) *writer {
	w := &writer{output: out, turn: &turn{out: out}, charges: &charges{out: out, requests: map[string]skein.Usage{}}}
	w.messages = &messages{output: out, turn: w.turn}
	w.calls = &calls{output: out, messages: w.messages, waiting: map[string]*wrote{}, used: map[string]bool{}, children: children}
	return w
}

// children returns the sessions that calls started, by call.
func children(events []skein.Event) map[string]skein.SessionID {
	all := map[string]skein.SessionID{}
	for _, e := range events {
		if t, err := skein.Decode[skein.ToolState](e); e.Kind == skein.KindTool && err == nil && t.Child != "" {
			all[t.Call] = t.Child
		}
	}
	return all
}

// An act writes one message or event.
type act struct {
	at    skein.Seq // its position
	tells skein.Seq // last event that it covers
	spent bool      // it is a request's usage
	old   bool      // the file has it
	do    func() error
}

// acts returns what is to be written, in order. It includes what the file already
// has, because later acts depend on it.
func (w *writer) acts() (all []act, err error) {
	entries, err := w.d.Entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Rewound {
			if e.Seq > w.d.After {
				w.losses.Add(e.Seq, "rewound messages: left out")
			}
			continue
		}
		all = append(all, act{at: e.Seq, tells: e.End, do: func() error { w.acting = e.Seq; return w.entry(&e) }})
	}
	marks, err := w.marks()
	if err != nil {
		return nil, err
	}
	all = append(all, marks...)
	slices.SortStableFunc(all, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return w.split(all, entries)
}

// split puts what is new after what the file has and, between them, acts that take
// back what the session rewound. What the session returned to, but the file has taken
// back, is new.
func (w *writer) split(all []act, entries []skein.Entry) ([]act, error) {
	was, err := skein.OnLine(w.d.Events, w.d.After)
	if err != nil {
		return nil, err
	}
	back, err := w.back(entries)
	if err != nil {
		return nil, err
	}
	now, err := skein.OnLine(w.d.Events, lastSeq(w.d.Events))
	if err != nil {
		return nil, err
	}
	for _, e := range w.d.Events {
		if e.Kind == skein.KindCompacted && e.Seq <= w.d.After && on(was, e.Seq) && !on(now, e.Seq) {
			w.losses.Add(e.Seq, "a rewind to before a summary: Codex continues from the summary")
		}
	}
	var old []act
	for _, a := range all {
		if a.old = a.tells <= w.d.After && (on(was, a.tells) || a.spent); a.old {
			old = append(old, a)
		} else {
			back = append(back, a)
		}
	}
	return append(old, back...), nil
}

func on(line []skein.SeqRange, seq skein.Seq) bool {
	return slices.ContainsFunc(line, func(s skein.SeqRange) bool { return s.From < seq && seq <= s.To })
}

// begin determines the thread's ID and place, and writes its beginning.
func (w *writer) begin() error {
	s := &w.d.Session
	w.id = threadID(s)
	w.at = s.Created
	if w.at == 0 {
		w.at = skein.At(w.d.Now)
	}
	if w.d.After > 0 {
		w.path = w.d.Path
		w.id = first(idOfName(w.path), w.id)
		return w.look()
	}
	w.path = "sessions/" + w.at.Std().UTC().Format("2006/01/02/rollout-2006-01-02T15-04-05-") + w.id + ".jsonl"
	w.emit(w.at, typeMeta, w.meta())
	if t := s.Title; t != "" {
		w.named(max(s.Updated, w.at), t)
		if w.file.counted {
			w.lose(0, "title: Codex does not read it for such a thread")
		}
	}
	if s.Model != "" && len(w.ours) == 0 {
		w.losses.Add(0, "model: Codex continues with the one in its settings")
	}
	return nil
}

// fromCodex returns which events were read from Codex's own lines, which the reader's
// keys show.
func fromCodex(events []skein.Event) map[skein.Seq]bool {
	all := map[skein.Seq]bool{}
	for _, e := range events {
		if strings.HasPrefix(string(e.ClientID), keyPrefix) {
			all[e.Seq] = true
		}
	}
	return all
}
