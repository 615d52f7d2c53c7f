package writeback

import (
	"slices"
	"sort"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// A coverage determines which events the records of a source cover, when a session is to
// be written to it: see Draft.Tells.
type coverage struct {
	made    map[skein.ClientID]skein.Seq // where the events of records are; 0 for one that is neither a message nor a compaction
	lost    []skein.Event                // placeholders of damaged events, whose client IDs are not known
	echoes  map[records.RecordHash][]skein.Seq
	steps   []skein.Seq // the messages and compactions
	rewinds []skein.Event
	was     []skein.SeqRange // the session's line as the source has it
	now     []skein.SeqRange
}

func newTeller(events []skein.Event, after skein.Seq, list records.Echoes) *coverage {
	t := &coverage{made: map[skein.ClientID]skein.Seq{}, echoes: list.Index()}
	last := after
	for _, e := range events {
		last = max(last, e.Seq)
		if e.IsPlaceholder() && e.Seq <= after {
			t.lost = append(t.lost, e)
		}
		id := reconcile.WithoutMark(e.ClientID)
		switch e.Kind {
		case skein.KindSaid, skein.KindCompacted:
			t.steps = append(t.steps, e.Seq)
			t.made[id] = e.Seq
			continue
		case skein.KindRewound:
			t.rewinds = append(t.rewinds, e)
		}
		if _, ok := t.made[id]; !ok {
			t.made[id] = 0
		}
	}
	t.was, t.now = t.line(after), t.line(last)
	return t
}

// line returns the line that ends at seq. A rewind that cannot be read leads
// nowhere.
func (t *coverage) line(seq skein.Seq) []skein.SeqRange {
	spans, err := skein.OnLine(t.rewinds, seq)
	if err != nil {
		return []skein.SeqRange{{To: seq}}
	}
	return spans
}

func (t *coverage) tells(r skein.Record) (at skein.Seq, still bool) {
	h := records.HashRecord(r.Raw)
	if seqs := t.echoes[h]; len(seqs) > 0 {
		at = t.step(seqs[0])
		if len(seqs) > 1 {
			t.echoes[h] = seqs[1:]
		}
	}
	for i := range r.Events {
		at = max(at, t.stands(reconcile.ClientID(r.Key, i, r.Events)))
	}
	return at, at == 0 || !reconcile.OnLine(t.was, at) || reconcile.OnLine(t.now, at)
}

// stands returns the seq of the message or compaction with a client ID; 0 if there is
// none. If it cannot be found, it is taken to be the next damaged one: records come in
// the order of their events.
func (t *coverage) stands(id skein.ClientID) skein.Seq {
	at, ok := t.made[id]
	if ok || len(t.lost) == 0 {
		return at
	}
	e := t.lost[0]
	if t.lost = t.lost[1:]; e.Kind == skein.KindSaid {
		at = e.Seq
	}
	t.made[id] = at
	return at
}

// step returns the last message or compaction on the line that ends at seq; 0
// if there is none.
func (t *coverage) step(seq skein.Seq) skein.Seq {
	spans := t.line(seq)
	for _, s := range slices.Backward(spans) {
		i := sort.Search(len(t.steps), func(i int) bool { return t.steps[i] > s.To })
		if i > 0 && t.steps[i-1] > s.From {
			return t.steps[i-1]
		}
	}
	return 0
}

// reach makes the last line cover all events: the format has no lines for those
// after its own, and they are not written another time.
func reach(t *interop.SourceText, evs []skein.Event) {
	if n, m := len(t.Lines), len(evs); n > 0 && m > 0 {
		t.Lines[n-1].Seq = max(t.Lines[n-1].Seq, evs[m-1].Seq)
	}
}
