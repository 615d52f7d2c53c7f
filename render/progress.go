package render

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
)

// Outcomes are what a session's events say besides its messages: the state of
// calls without a result, which requests failed, and which events were lost. A
// nil one says nothing.
type Outcomes struct {
	calls   map[string][]openCall // in order, by ID, which may occur more than once
	all     bool                  // keep calls with a result too, and nothing else
	left    bool                  // running calls belong to a program that died
	waiting int                   // number of calls whose result may come
	failed  []failedRequest       // in order
	rewinds []skein.Event
}

type openCall struct {
	seq     skein.Seq // seq of the call
	message string    // ID of the message
	said    skein.CallState
	result  skein.Seq // seq of the message with the result; 0 if there is none
	failed  bool      // according to the result
}

// state returns the state of c, "" if it is unknown.
func (c *openCall) state() skein.CallState {
	if c.result == 0 {
		return CallState(c.said, nil)
	}
	return CallState(c.said, &skein.Result{Failed: c.failed})
}

// plain reports whether c has a result that implies its state.
func (c *openCall) plain() bool {
	return c.result > 0 && (c.failed || c.state() == skein.Completed)
}

// A failedRequest is a request that failed or, without an error, the lost
// events from seq to last.
type failedRequest struct {
	seq, last skein.Seq
	error     *skein.ErrorInfo
	rewound   bool
}

// ProgressOf collects what events of s say about the messages up to the seq to:
// all events from the first of these messages on. It stops once nothing more
// can come: a later rewind may take back a request that failed. It keeps only
// calls without a result and errors, with hide applied to their text unless that
// is nil.
//
// The error is that of events.
func ProgressOf(s *skein.Session, events iter.Seq2[skein.Event, error], to skein.Seq, hide func(string) string) (*Outcomes, error) {
	t := &Outcomes{calls: map[string][]openCall{}, left: s.LeftRunning()}
	return t, t.read(events, to, hide)
}

// ProgressOfCalls is like [ProgressOf], for calls only, and also keeps those
// with a result: what [Outcomes.Entry] needs.
//
// The error is that of events.
func ProgressOfCalls(s *skein.Session, events iter.Seq2[skein.Event, error], to skein.Seq) (*Outcomes, error) {
	t := &Outcomes{calls: map[string][]openCall{}, left: s.LeftRunning(), all: true}
	return t, t.read(events, to, nil)
}

// Live returns t without the requests that failed in what was taken back, as
// [Live] leaves out its messages.
func (t *Outcomes) Live() *Outcomes {
	if t == nil {
		return nil
	}
	live := *t
	live.failed = slices.DeleteFunc(slices.Clone(t.failed), func(f failedRequest) bool { return f.rewound })
	return &live
}

// read adds events for [ProgressOf].
func (t *Outcomes) read(events iter.Seq2[skein.Event, error], to skein.Seq, hide func(string) string) error {
	last := skein.Seq(0)
	for e, err := range events {
		if err != nil {
			return err
		}
		if e.Seq > to && t.waiting == 0 && !slices.ContainsFunc(t.failed, requested) {
			break
		}
		t.add(&e, to, hide)
		last = e.Seq
	}
	live, err := skein.OnLine(t.rewinds, last)
	for i := range t.failed {
		f := &t.failed[i]
		f.rewound = requested(*f) && !slices.ContainsFunc(live, func(r skein.SeqRange) bool { return f.seq > r.From && f.seq <= r.To })
	}
	return err
}

// requested reports whether f is a request, not a loss of events, which no
// rewind takes back.
func requested(f failedRequest) bool { return f.error != nil }

// add adds e. A payload that does not fit its kind is ignored.
func (t *Outcomes) add(e *skein.Event, to skein.Seq, hide func(string) string) {
	if t.all && (e.Kind == skein.KindStep || e.Kind == skein.KindNoted || e.Kind == skein.KindRewound) {
		return
	}
	switch e.Kind {
	case skein.KindSaid:
		if bytes.Contains(e.Payload, []byte(`"call`)) { // skips most messages cheaply
			if m, err := skein.Decode[skein.Message](*e); err == nil {
				t.message(e.Seq, &m, e.Seq <= to)
			}
		}
	case skein.KindAmended:
		if a, err := skein.Decode[skein.Amended](*e); err == nil && bytes.Contains(a.Payload, []byte(`"call`)) {
			is := skein.Event{Seq: a.Seq, Kind: skein.KindSaid, Payload: a.Payload}
			if m, err := skein.Decode[skein.Message](is); err == nil {
				t.message(a.Seq, &m, false)
			}
		}
	case skein.KindTool:
		if s, err := skein.Decode[skein.ToolState](*e); err == nil {
			if c := t.newest(s.Call); c != nil {
				c.said = s.State
			}
		}
	case skein.KindStep:
		s, err := skein.Decode[skein.Step](*e)
		if err != nil || s.Error == nil || e.Seq > to {
			return
		}
		if hide != nil {
			s.Error.Message = hide(s.Error.Message)
		}
		t.failed = append(t.failed, failedRequest{seq: e.Seq, last: e.Seq, error: s.Error})
	case skein.KindRewound:
		if _, err := skein.Decode[skein.Rewound](*e); err == nil {
			t.rewinds = append(t.rewinds, *e)
		}
	case skein.KindNoted:
		if e.Seq > to || !bytes.Contains(e.Payload, []byte(skein.NoteLost)) {
			return
		}
		if n, err := skein.Decode[skein.Noted](*e); err == nil && n.Name == skein.NoteLost && n.Level == "error" {
			t.lost(e.Seq)
		}
	}
}

// lost records that the event at seq was lost.
func (t *Outcomes) lost(seq skein.Seq) {
	if n := len(t.failed); n > 0 && t.failed[n-1].error == nil && t.failed[n-1].last == seq-1 {
		t.failed[n-1].last = seq
		return
	}
	t.failed = append(t.failed, failedRequest{seq: seq, last: seq})
}

// message adds the results of m, and its calls if made.
func (t *Outcomes) message(seq skein.Seq, m *skein.Message, made bool) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil && p.Call.ID != "" && made:
			t.call(seq, m.ID, p.Call.ID)
		case p.Result != nil:
			t.answer(seq, p.Result)
		}
	}
}

// call adds a call. A piece of a message may repeat a call of an earlier piece.
func (t *Outcomes) call(seq skein.Seq, message, id string) {
	if c := t.newest(id); c != nil && c.message != "" && c.message == message {
		return
	}
	t.calls[id] = append(t.calls[id], openCall{seq: seq, message: message})
	t.waiting++
}

// answer adds the result r, which is at seq, and drops the call that it
// answers, unless more is to be said about that.
func (t *Outcomes) answer(seq skein.Seq, r *skein.Result) {
	c := t.newest(r.CallID)
	if c == nil || c.result > 0 {
		return
	}
	t.waiting--
	if c.result, c.failed = seq, r.Failed; t.all || !c.plain() {
		return
	}
	if all := t.calls[r.CallID]; len(all) > 1 {
		t.calls[r.CallID] = all[:len(all)-1]
	} else {
		delete(t.calls, r.CallID)
	}
}

func (t *Outcomes) newest(id string) *openCall {
	if all := t.calls[id]; len(all) > 0 {
		return &all[len(all)-1]
	}
	return nil
}

// Call returns the state of the call with this ID that e made, in words:
// pending, running, …; "" if its result implies it.
func (t *Outcomes) Call(e *skein.Entry, id string) string {
	if t == nil {
		return ""
	}
	if c := t.of(e, id); c != nil {
		return callWords(c)
	}
	return ""
}

// of returns the call with this ID that e made, or nil.
func (t *Outcomes) of(e *skein.Entry, id string) *openCall {
	for _, c := range t.calls[id] {
		if c.seq >= e.Seq && c.seq <= e.End {
			if c.said == skein.Running && c.result == 0 && t.left {
				c.said = skein.Uncertain
			}
			return &c
		}
	}
	return nil
}

func callWords(c *openCall) string {
	if c.plain() {
		return ""
	}
	return stateWords(c.state())
}

// stateWords returns the state of a call without a result, in words.
func stateWords(state skein.CallState) string {
	switch state {
	case skein.Pending:
		return "pending: it has not run"
	case skein.Uncertain:
		return "uncertain: nobody knows whether it took effect"
	case skein.Failed:
		return "failed"
	case skein.Completed:
		return "completed, but its result was not kept"
	case "", Open:
		return "no result"
	default:
		return Line(string(state))
	}
}

// Open is the state of a call about which no event says anything.
const Open skein.CallState = "open"

// An Entry is a message in JSON form, with the progress of its calls.
type Entry struct {
	skein.Entry
	Calls []CallProgress `json:"calls,omitempty"` // of the message, in order
}

// A CallProgress is the state of a call, and the message that answers it.
type CallProgress struct {
	ID     string          `json:"id"`
	State  skein.CallState `json:"state,omitempty"`  // a [skein.CallState] or [Open]; "" if not enough events were read
	Result skein.Seq       `json:"result,omitempty"` // seq of the message with its result; 0 if there is none
}

// Words returns the state of c in words; "" if it is unknown, or if the result
// implies it.
func (c CallProgress) Words() string {
	if c.State == "" || c.Result > 0 && (c.State == skein.Completed || c.State == skein.Failed) {
		return ""
	}
	return stateWords(c.State)
}

// farthest is how many events after a page [EntriesOf] reads for the results of
// its calls: a call without a result would have the rest of the session read.
const farthest = 1000

// EntriesOf returns consecutive messages of s with the progress of their calls.
// events yields the events of s after a seq. The state of a call is "" if its
// result is not among the 1000 events after the messages, and there are more. Without
// calls, no events are read.
//
// The error is that of events.
func EntriesOf(s *skein.Session, found []skein.Entry, events func(after skein.Seq) iter.Seq2[skein.Event, error]) ([]Entry, error) {
	if !slices.ContainsFunc(found, hasCalls) { // the events may be long
		events = func(skein.Seq) iter.Seq2[skein.Event, error] { return func(func(skein.Event, error) bool) {} }
	}
	if len(found) == 0 {
		return nil, nil
	}
	first, last, cut := found[0].Seq, found[len(found)-1].End, false
	t, err := ProgressOfCalls(s, func(yield func(skein.Event, error) bool) {
		for e, err := range events(first - 1) {
			if cut = e.Seq > last+farthest; cut || !yield(e, err) {
				return
			}
		}
	}, last)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(found))
	for _, e := range found {
		m := t.Entry(e)
		for i := range m.Calls {
			if cut && m.Calls[i].Result == 0 {
				m.Calls[i].State = ""
			}
		}
		out = append(out, m)
	}
	return out, nil
}

func hasCalls(e skein.Entry) bool {
	return slices.ContainsFunc(e.Message.Parts, func(p skein.Part) bool { return p.Call != nil })
}

// Entry returns e with the progress of its calls, which may lack text that is
// hidden in e. t must come from [ProgressOfCalls].
func (t *Outcomes) Entry(e skein.Entry) Entry {
	out := Entry{Entry: e}
	if t == nil {
		return out
	}
	for i := range e.Message.Parts {
		c := e.Message.Parts[i].Call
		if c == nil {
			continue
		}
		told := CallProgress{ID: c.ID, State: Open}
		if known := t.of(&e, c.ID); known != nil {
			told.Result = known.result
			if state := known.state(); state != "" {
				told.State = state
			}
		}
		out.Calls = append(out.Calls, told)
	}
	return out
}

// Before returns the errors of requests that failed before the message e, or
// before the end of the session if e is nil, and the events that were lost
// there, each once. Errors that e itself has are not included.
func (t *Outcomes) Before(e *skein.Entry) (lines []string) {
	if t == nil {
		return nil
	}
	for len(t.failed) > 0 && (e == nil || t.failed[0].seq < e.Seq) {
		f := t.failed[0]
		t.failed = t.failed[1:]
		switch {
		case f.error == nil:
			lines = append(lines, lostLine(f))
		case e == nil || e.Message.Error == nil || e.Message.Error.Message != f.error.Message:
			lines = append(lines, failedLine(f))
		}
	}
	if e != nil && e.Message.Error != nil {
		// An error that e has is not repeated for its request.
		for len(t.failed) > 0 && t.failed[0].seq <= e.End+1 && t.failed[0].error != nil && t.failed[0].error.Message == e.Message.Error.Message {
			t.failed = t.failed[1:]
		}
	}
	return lines
}

func failedLine(f failedRequest) string {
	what := "A request failed"
	if f.rewound {
		what += " (taken back)"
	}
	return what + ": " + ErrorLine(f.error)
}

func lostLine(f failedRequest) string {
	if f.seq == f.last {
		return fmt.Sprintf("Event %d was lost when the store was damaged", f.seq)
	}
	return fmt.Sprintf("Events %d to %d were lost when the store was damaged", f.seq, f.last)
}

// CallState returns the state of a call whose tool events say said, "" for
// none, and whose result is r, nil for none.
func CallState(said skein.CallState, r *skein.Result) skein.CallState {
	if r == nil {
		return said
	}
	if said == "" || said == skein.Running || said == skein.Pending {
		said = skein.Completed
	}
	if r.Failed && said == skein.Completed {
		said = skein.Failed
	}
	return said
}
