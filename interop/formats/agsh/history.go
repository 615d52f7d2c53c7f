package agsh

import (
	"math"
	"slices"
	"strconv"

	"github.com/skein-dev/skein"
)

// maxMarks is how many rewinds and compactions rows can record, the last ones: for
// each, the messages are computed again.
const maxMarks = 100

// write makes the rows of what was said. In a database of 0.38 and later that is
// everything, with the session's rewinds and compactions, in the order in which they
// happened.
func (w *writer) write() error {
	if err := w.known(); err != nil {
		return err
	}
	var marks []int
	for i, e := range w.d.Events {
		if _, sums := summaryOf(e); e.Seq > w.d.After && w.at.repairs() && (sums || e.Kind == skein.KindRewound) {
			marks = append(marks, i)
		}
	}
	if over := len(marks) - maxMarks; over > 0 {
		w.losses.Add(w.d.Events[marks[0]].Seq, "rewinds and compactions, except for the last hundred: left out")
		marks, w.back = marks[over:], true
	}
	for _, i := range marks {
		if err := w.mark(i); err != nil {
			return err
		}
	}
	if w.d.After > 0 && !w.at.repairs() {
		w.back = w.d.WentBack()
	}
	return w.upTo(len(w.d.Events), math.MaxInt64)
}

// mark makes the rows up to a rewind or a compaction. What a summary does not cover
// comes after it.
func (w *writer) mark(i int) error {
	sum, ok := summaryOf(w.d.Events[i])
	if !ok {
		err := w.upTo(i, math.MaxInt64)
		w.back = true
		return err
	}
	err := w.upTo(i, sum.To)
	w.boundary(sum)
	return err
}

// upTo makes the rows of the messages that are live after the first n events, up to
// limit.
func (w *writer) upTo(n int, limit skein.Seq) error {
	events := w.d.Events[:n]
	if n == 0 {
		return nil
	}
	entries, err := w.d.EntriesOf(n)
	if err != nil {
		return err
	}
	last := events[n-1].Seq
	spans, err := skein.OnLine(events, last)
	if err != nil {
		return err
	}
	if w.at.repairs() {
		w.mend(events, spans)
	} else {
		w.takeBack(spans)
		defer w.leaveOut(slices.Clone(entries))
	}
	w.back = false
	w.messages.say(slices.DeleteFunc(entries, func(e skein.Entry) bool { return e.Rewound }), w.keep, limit)
	w.keep = max(w.keep, min(limit, last))
	return nil
}

// leaveOut reports what the session rewound, which gets no row.
func (w *writer) leaveOut(entries []skein.Entry) {
	for i := range entries {
		if entries[i].Rewound {
			w.lose(&entries[i], "message that was rewound: left out")
		}
	}
}

// takeBack removes rows, beginning with the first one that the session has rewound
// since, if no row can say so. As long as that was the last one, the rows before it
// were all there was.
func (w *writer) takeBack(spans []skein.SeqRange) {
	if !w.back {
		return
	}
	n := slices.IndexFunc(w.view.held, func(h held) bool { return !h.still })
	if n < 0 {
		n = len(w.view.held)
	}
	n = w.view.whole(n)
	for _, h := range w.view.held[n:] {
		w.gone = append(w.gone, h.row)
	}
	w.view.held, w.keep = w.view.held[:n], 0
	for _, h := range slices.Backward(w.view.held) {
		if h.at > 0 && on(spans, h.at) {
			w.keep = h.at
			break
		}
	}
}

// mend makes the row that brings the program's messages in line with the session's: a
// boundary if the session begins with a different summary, a repair that takes back
// the rest if some of it is no longer live.
func (w *writer) mend(events []skein.Event, spans []skein.SeqRange) {
	var sum *summary
	var back skein.Event
	for _, e := range events {
		if s, ok := summaryOf(e); ok && on(spans, e.Seq) {
			sum = s
		}
		if e.Kind == skein.KindRewound {
			back = e
		}
	}
	if sum != nil && (len(w.view.held) == 0 || w.view.held[0].at != sum.seq) {
		w.boundary(sum)
		return
	}
	n := slices.IndexFunc(w.view.held, func(h held) bool { return h.at > 0 && !on(spans, h.at) })
	if n >= 0 {
		n = w.view.whole(n)
		w.repair(back, len(w.view.held)-n)
		w.view.held = w.view.held[:n]
	}
	if w.back || n >= 0 {
		w.keep = w.view.kept(sum)
	}
}

// boundary makes the row that replaces all messages by a summary.
func (w *writer) boundary(sum *summary) {
	text := append(skein.AppendQuoted([]byte(`{"CompactBoundary":{"summary":{"role":"user","content":[{"type":"text","text":`), sum.Summary), `}]},"replaced_count":`...)
	text = append(strconv.AppendInt(text, int64(len(w.view.held)), 10), `,"loaded_tools_snapshot":[]}}`...)
	w.row(&skein.Entry{Seq: sum.seq, End: sum.seq, Time: sum.time}, roleBoundary, string(text))
	w.view.held, w.keep, w.back = []held{{at: sum.seq, role: roleUser}}, sum.To, false
}

// repair makes the row that takes back the last n messages.
func (w *writer) repair(back skein.Event, n int) {
	e := skein.Entry{Seq: back.Seq, End: back.Seq, Time: back.Time}
	w.row(&e, roleRepair, `{"Repair":{"replaced_count":`+strconv.Itoa(n)+`,"messages":[]}}`)
}

func on(spans []skein.SeqRange, seq skein.Seq) bool {
	return slices.ContainsFunc(spans, func(s skein.SeqRange) bool { return s.From < seq && seq <= s.To })
}

// summary is a compaction that the program can store.
type summary struct {
	skein.Compacted
	seq  skein.Seq
	time skein.Time
}

func summaryOf(e skein.Event) (*summary, bool) {
	if e.Kind != skein.KindCompacted {
		return nil, false
	}
	c, err := skein.Decode[skein.Compacted](e)
	if err != nil || c.Failed || c.Summary == "" {
		return nil, false
	}
	return &summary{c, e.Seq, e.Time}, true
}
