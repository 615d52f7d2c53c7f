package render

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
)

// A Progress is what a session's events tell besides its messages: how far the
// calls came that have no result, which requests failed, and which events were
// lost. A nil Progress tells nothing.
type Progress struct {
	calls   map[string][]openCall // by ID, which may come again, in order
	all     bool                  // calls with a result are kept too, and nothing else
	left    bool                  // calls that run are those of a program that died
	waiting int                   // calls whose result may come
	failed  []failedRequest       // in order
}

type openCall struct {
	seq     skein.Seq // where it was made
	message string    // ID of the message
	said    skein.CallState
	result  skein.Seq // of the message with its result; 0 if there is none
	failed  bool      // so the result says
}

// state is how far c came, "" if nothing tells.
func (c *openCall) state() skein.CallState {
	if c.result == 0 {
		return CallState(c.said, nil)
	}
	return CallState(c.said, &skein.Result{Failed: c.failed})
}

// plain reports whether c has a result that tells its state.
func (c *openCall) plain() bool {
	return c.result > 0 && (c.failed || c.state() == skein.Completed)
}

// A failedRequest is a request that failed or, without an error, events from seq to
// last that were lost.
type failedRequest struct {
	seq, last skein.Seq
	error     *skein.ErrorInfo
}

// ProgressOf gathers what events of s tell of the messages up to the place to: all events
// from the first of these messages on. It stops where nothing more can come. It
// keeps no more than calls without result and errors, with hide applied to
// their text unless that is nil.
//
// The error is that of events.
func ProgressOf(s *skein.Session, events iter.Seq2[skein.Event, error], to skein.Seq, hide func(string) string) (*Progress, error) {
	t := &Progress{calls: map[string][]openCall{}, left: s.LeftRunning()}
	return t, t.read(events, to, hide)
}

// ProgressOfCalls is as [ProgressOf], of calls alone, and keeps those with a result too: what
// [Progress.Entry] needs.
//
// The error is that of events.
func ProgressOfCalls(s *skein.Session, events iter.Seq2[skein.Event, error], to skein.Seq) (*Progress, error) {
	t := &Progress{calls: map[string][]openCall{}, left: s.LeftRunning(), all: true}
	return t, t.read(events, to, nil)
}

// read takes in events for [ProgressOf].
func (t *Progress) read(events iter.Seq2[skein.Event, error], to skein.Seq, hide func(string) string) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		if e.Seq > to && t.waiting == 0 {
			break
		}
		t.add(&e, to, hide)
	}
	return nil
}

// add takes in e. A payload that does not fit its kind tells nothing.
func (t *Progress) add(e *skein.Event, to skein.Seq, hide func(string) string) {
	if t.all && (e.Kind == skein.KindStep || e.Kind == skein.KindNoted) {
		return
	}
	switch e.Kind {
	case skein.KindSaid:
		if bytes.Contains(e.Payload, []byte(`"call`)) { // spares most messages
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
		t.failed = append(t.failed, failedRequest{e.Seq, e.Seq, s.Error})
	case skein.KindNoted:
		if e.Seq > to || !bytes.Contains(e.Payload, []byte(skein.NoteLost)) {
			return
		}
		if n, err := skein.Decode[skein.Noted](*e); err == nil && n.Name == skein.NoteLost && n.Level == "error" {
			t.lost(e.Seq)
		}
	}
}

// lost takes in that the event at seq was lost.
func (t *Progress) lost(seq skein.Seq) {
	if n := len(t.failed); n > 0 && t.failed[n-1].error == nil && t.failed[n-1].last == seq-1 {
		t.failed[n-1].last = seq
		return
	}
	t.failed = append(t.failed, failedRequest{seq, seq, nil})
}

// message takes in the results of m, and its calls if made.
func (t *Progress) message(seq skein.Seq, m *skein.Message, made bool) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil && p.Call.ID != "" && made:
			t.call(seq, m.ID, p.Call.ID)
		case p.Result != nil:
			t.answer(seq, p.Result)
		}
	}
}

// call takes in a call. A piece of a message may repeat one of an earlier piece.
func (t *Progress) call(seq skein.Seq, message, id string) {
	if c := t.newest(id); c != nil && c.message != "" && c.message == message {
		return
	}
	t.calls[id] = append(t.calls[id], openCall{seq: seq, message: message})
	t.waiting++
}

// answer takes in the result r, which stands at seq, and forgets the call that it
// answers, unless more is to be told of that.
func (t *Progress) answer(seq skein.Seq, r *skein.Result) {
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

func (t *Progress) newest(id string) *openCall {
	if all := t.calls[id]; len(all) > 0 {
		return &all[len(all)-1]
	}
	return nil
}

// CallProgress returns how far the call with this ID came that e made: pending,
// running, …, in words; "" if its result tells that.
func (t *Progress) Call(e *skein.Entry, id string) string {
	if t == nil {
		return ""
	}
	if c := t.of(e, id); c != nil {
		return callWords(c)
	}
	return ""
}

// of returns the call with this ID that e made, nil if none is known.
func (t *Progress) of(e *skein.Entry, id string) *openCall {
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
	switch state := c.state(); state {
	case skein.Pending:
		return "pending: it has not run"
	case skein.Uncertain:
		return "uncertain: nobody knows whether it took effect"
	case skein.Failed:
		return "failed"
	case skein.Completed:
		return "completed, but its result was not kept"
	case "":
		return "no result"
	default:
		return Line(string(state))
	}
}

// Open is the state of a call of which nothing tells how far it came.
const Open skein.CallState = "open"

// An Entry is a message as JSON has it: with how far its calls came.
type Entry struct {
	skein.Entry
	Calls []CallProgress `json:"calls,omitempty"` // those of the message, in order
}

// A CallProgress is how far a call came, and which message answers it.
type CallProgress struct {
	ID     string          `json:"id"`
	State  skein.CallState `json:"state,omitempty"`  // a [skein.CallState] or [Open]; "" if nobody looked far enough
	Result skein.Seq       `json:"result,omitempty"` // of the message with its result; 0 if there is none
}

// Entry returns e with what t tells of its calls, which may be without text that
// is hidden in e. It needs what [ProgressOfCalls] returns.
func (t *Progress) Entry(e skein.Entry) Entry {
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

// Before returns the errors of requests that failed before the message e, nil
// for the end of the session, and which events were lost there, each once. What
// e says itself is not among them.
func (t *Progress) Before(e *skein.Entry) (lines []string) {
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
			lines = append(lines, "A request failed: "+ErrorLine(f.error))
		}
	}
	if e != nil && e.Message.Error != nil {
		// What it says is not said again of its own request.
		for len(t.failed) > 0 && t.failed[0].seq <= e.End+1 && t.failed[0].error != nil && t.failed[0].error.Message == e.Message.Error.Message {
			t.failed = t.failed[1:]
		}
	}
	return lines
}

func lostLine(f failedRequest) string {
	if f.seq == f.last {
		return fmt.Sprintf("Event %d was lost when the store was damaged", f.seq)
	}
	return fmt.Sprintf("Events %d to %d were lost when the store was damaged", f.seq, f.last)
}

// CallState returns how far a call came of which its tool events say said, ""
// for nothing, and whose result is r, nil for none.
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
