package opencode

import (
	"slices"

	"github.com/skein-dev/skein"
)

// A summed is a compaction that is to be written.
type summed struct {
	skein.Compacted
	seq skein.Seq
	at  skein.Time
}

// compaction returns the newest one in effect, nil if there is none. It covers what
// the others covered.
func (w *writer) compaction() *summed {
	line, err := skein.OnLine(w.d.Events, w.d.Session.Last)
	if err != nil {
		return nil
	}
	var out *summed
	for _, ev := range w.d.Events {
		c, err := skein.Decode[skein.Compacted](ev)
		if ev.Kind != skein.KindCompacted || err != nil || c.Failed || ev.Seq <= w.keep {
			continue
		}
		on := slices.ContainsFunc(line, func(r skein.SeqRange) bool { return ev.Seq > r.From && ev.Seq <= r.To })
		if !on || c.Summary == "" {
			w.losses.Add(ev.Seq, "compaction that was undone, or has no text: left out")
			continue
		}
		if out != nil {
			w.losses.Add(out.seq, "earlier compaction: left out")
		}
		out = &summed{c, ev.Seq, ev.Time}
	}
	if out != nil && w.d.After > 0 && out.To < w.keep {
		out.To = w.keep // existing rows cannot be moved after it
		w.losses.Add(out.seq, "messages that a compaction kept: covered, too")
	}
	return out
}

// summary writes a compaction: the request for it, and the model's answer.
func (w *writer) summary(s *summed) {
	id, at := w.asked(s.To, w.time)
	w.part(s.To, id, at, compactionOut{"compaction", s.Trigger == "auto"})
	of := w.user
	answer, at := w.message(s.To, w.time, func(at skein.Time) any {
		out := answerOut{
			Parent: of, Role: "assistant", Mode: "compaction", Agent: "compaction", Summary: true, Path: pathOut{w.folder(), w.root()},
			Time: timeOut{int64(at), int64(at)}, Finish: "stop",
		}
		if out.Provider, out.Model = w.modelOf("", ""); out.Model == "" {
			out.Provider, out.Model = "unknown", "unknown"
		}
		return out
	})
	w.part(s.To, answer, at, textOut{Type: "text", Text: skein.Text(s.Summary), Time: &spanOut{int64(at), int64(at)}})
}

// others reports what else has no row.
func (w *writer) others() {
	if w.d.After == 0 && !w.ours && w.d.Session.Model != "" {
		which := "in its settings"
		if w.at.model != (askedOf{}) {
			which = "that it used last"
		}
		w.losses.Add(0, "model: opencode continues with the one "+which)
	}
	for _, ev := range w.d.Events {
		if ev.Seq <= w.d.After {
			continue
		}
		switch ev.Kind {
		case skein.KindNoted:
			w.losses.Add(ev.Seq, "notes: left out")
		case skein.KindTool:
			w.losses.Add(ev.Seq, "when tools ran, and what their programs noted: left out")
		}
	}
}
