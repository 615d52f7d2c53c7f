package claudecode

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// A callOut is a call and its outcome.
type callOut struct {
	owner  *skein.Entry
	call   *skein.Call
	id     string
	name   string // Claude Code's name; "" if it is written as text
	input  []byte
	result *skein.Result
	from   *skein.Entry // that has the result
	child  skein.SessionID
	line   string // UUID of the line that has it
	done   bool   // the result is written
}

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
	for _, e := range w.d.Events {
		if u, ok := strings.CutPrefix(string(e.ClientID), "cc:"); ok {
			w.uuids[e.Seq], _, _ = strings.Cut(u, "/")
		}
	}
	if err := w.goBack(); err != nil {
		return err
	}
	children, err := w.children()
	if err != nil {
		return err
	}
	w.pair(children)
	return w.compactions()
}

// children returns the sessions that calls started.
func (w *writer) children() (map[string]skein.SessionID, error) {
	all := map[string]skein.SessionID{}
	for _, e := range w.d.Events {
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

// pair gives each call its result: the first one for its ID; a result goes to the
// newest message that has a call with its ID.
func (w *writer) pair(children map[string]skein.SessionID) {
	w.calls, w.results = map[*skein.Call]*callOut{}, map[*skein.Result]*callOut{}
	open, used := map[string][]*callOut{}, map[string]bool{}
	for i := range w.entries {
		e := &w.entries[i]
		for _, p := range e.Message.Parts {
			switch {
			case p.Call != nil && e.Message.Role == skein.RoleAssistant:
				c := &callOut{owner: e, call: p.Call, child: children[p.Call.ID]}
				c.id = unused(plainID(p.Call.ID), used)
				c.name, c.input = w.asTool(p.Call)
				w.calls[p.Call] = c
				before := open[p.Call.ID]
				if len(before) > 0 && before[0].owner != e {
					before = nil
				}
				open[p.Call.ID] = append(before, c)
			case p.Result != nil:
				if waiting := open[p.Result.CallID]; len(waiting) > 0 {
					waiting[0].result, waiting[0].from = p.Result, e
					w.results[p.Result] = waiting[0]
					open[p.Result.CallID] = waiting[1:]
				}
			}
		}
	}
}

// unused returns id, with a number appended if it is used.
func unused(id string, used map[string]bool) string {
	base := first(id, "call")
	for n := 2; id == "" || used[id]; n++ {
		end := "_" + strconv.Itoa(n)
		id = base[:min(len(base), maxID-len(end))] + end
	}
	used[id] = true
	return id
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
