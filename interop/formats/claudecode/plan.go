package claudecode

import (
	"cmp"
	"slices"

	"github.com/skein-dev/skein"
)

// A compaction is a summary and its position.
type compaction struct {
	seq  skein.Seq // of its event
	at   skein.Seq // it comes after the messages up to here
	time skein.Time
	what skein.Compacted
}

// plan determines what is to be written: the live messages, each call with its
// result, and the compactions.
func (w *writer) plan(all []skein.Entry) error {
	for i := range all {
		if !all[i].Rewound {
			w.entries = append(w.entries, all[i])
		} else if all[i].Seq > w.d.After {
			w.losses.Add(all[i].Seq, "rewound messages: left out")
		}
	}
	if err := w.goBack(); err != nil {
		return err
	}
	children, err := children(w.d.Events)
	if err != nil {
		return err
	}
	w.calls.pair(w.entries, children)
	return w.compactions()
}

// children returns the sessions that calls started, by call.
func children(events []skein.Event) (map[string]skein.SessionID, error) {
	all := map[string]skein.SessionID{}
	for _, e := range events {
		if e.Kind != skein.KindTool {
			continue
		}
		t, err := skein.Decode[skein.ToolState](e)
		if err != nil {
			return nil, err
		}
		if t.Child != "" {
			all[t.Call] = t.Child
		}
	}
	return all, nil
}

// compactions collects the compactions that are in effect.
func (w *writer) compactions() error {
	last := skein.Seq(0)
	if n := len(w.d.Events); n > 0 {
		last = w.d.Events[n-1].Seq
	}
	spans, err := skein.OnLine(w.d.Events, last)
	if err != nil {
		return err
	}
	for _, e := range w.d.Events {
		if e.Kind != skein.KindCompacted || e.Seq <= w.keep {
			continue
		}
		c, err := skein.Decode[skein.Compacted](e)
		switch {
		case err != nil:
			return err
		case c.Failed:
			continue
		case c.Summary == "":
			w.losses.Add(e.Seq, "compaction that only its provider can read: the messages that it covers are shown again")
			continue
		case !slices.ContainsFunc(spans, func(s skein.SeqRange) bool { return s.From < e.Seq && e.Seq <= s.To }):
			continue
		}
		at := c.To
		if at < w.keep {
			at = e.Seq
			w.losses.Add(e.Seq, "messages that a compaction kept: after it, too")
		}
		w.compacts = append(w.compacts, compaction{e.Seq, at, e.Time, c})
	}
	slices.SortStableFunc(w.compacts, func(a, b compaction) int { return cmp.Compare(a.at, b.at) })
	return nil
}
