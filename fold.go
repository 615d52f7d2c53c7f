package skein

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Fold computes the session id from its events: all of them in order, for a fork
// those of its parents first, as [Store.Events] yields them. It is [Session.Apply]
// with its own lookups, for checking a store against it or computing a session
// without a store.
//
// Revision, Binned and LockedBy, which only a store knows, are left out. Requests
// that another session was charged for before are counted again, because Fold does
// not see that session.
//
// The error wraps [ErrInvalid] if a payload does not fit its kind or a seq is
// not the next one, else it is one of [Session.Apply].
func Fold(id SessionID, events []Event) (Session, error) {
	t := NewTally(id)
	for _, e := range events {
		if _, err := t.Add(e); err != nil {
			return Session{}, err
		}
	}
	return t.Session(), nil
}

// A Tally is a [Fold] of events that are added one by one. Make one with
// [NewTally].
type Tally struct {
	id      SessionID
	session Session
	stand   LiveMessages
	charged map[string]Usage // by request
}

// NewTally returns the tally of the session id without events.
func NewTally(id SessionID) *Tally {
	return &Tally{id: id, charged: map[string]Usage{}}
}

// Session returns the session that results from the events added so far.
func (t *Tally) Session() Session {
	s := t.session
	s.ID = t.id
	return s
}

// Add adds the next event and returns what it added. Errors as [Fold]; after
// an error the tally must not be used.
func (t *Tally) Add(e Event) (_ Added, err error) {
	if want := t.session.Last + 1; e.Seq != want {
		return Added{}, Invalidf("event %d of kind %q: its place is %d", e.Seq, e.Kind, want)
	}
	defer Wrapf(&err, "event %d", e.Seq)
	facts, err := FactsOf(e)
	if err != nil {
		return Added{}, err
	}
	var p Prior
	if c := facts.Created; c != nil && c.Parent.IsFork() {
		if at := c.Parent.Seq; at != t.session.Last {
			return Added{}, Invalidf("fork at %d of %s: it comes after event %d", at, c.Parent.Session, t.session.Last)
		}
		p.Base = t.session.Shown()
		t.session = Session{}
	}
	if facts.Message != nil {
		p.Message = t.stand.Joins(facts.Message.ID)
	}
	if facts.Charge != nil {
		p.Charged = t.charged[facts.Charge.Request]
	}
	added, err := t.session.Apply(&e, facts, p)
	if err == nil {
		err = t.stand.Add(e)
	}
	if added.Stale {
		t.session.SetShown(t.stand.Shown())
	}
	if err == nil && facts.Charge != nil && facts.Charge.Request != "" {
		t.charged[facts.Charge.Request] = added.Counted
	}
	return added, err
}

// Shown returns what a fork at the end of s shows of it.
func (s *Session) Shown() Shown {
	return Shown{
		Messages: s.Messages, Turns: s.Turns, Undone: s.Undone, First: s.First, LastPrompt: s.LastPrompt,
		Project: s.Project, Cwd: s.Cwd, Checkout: s.Checkout, Agent: s.Agent, Model: s.Model,
	}
}

// Set sets in x what a created or changed event with the facts f sets, as
// [Session.Apply] does, and reports whether that includes the model. A created
// event that does not begin a fork resets x first.
func (x *Shown) Set(f Facts) (model bool) {
	switch c := f.Created; {
	case f.Changed != nil:
		s := Session{Project: x.Project, Cwd: x.Cwd, Checkout: x.Checkout, Agent: x.Agent, Model: x.Model}
		s.change(f.Changed)
		x.Project, x.Cwd, x.Checkout, x.Agent, x.Model = s.Project, s.Cwd, s.Checkout, s.Agent, s.Model
		return f.Changed.Model != nil
	case c != nil:
		if !c.Parent.IsFork() {
			*x = Shown{}
		}
		x.Checkout = x.checkout(c)
		x.Project, x.Cwd = cmp.Or(c.Project, x.Project), cmp.Or(c.Cwd, x.Cwd)
		x.Agent, x.Model = cmp.Or(c.Agent, x.Agent), cmp.Or(c.Model, x.Model)
		return c.Model != "" || !c.Parent.IsFork()
	}
	return false
}

// checkout returns what is checked out where a fork of x begins.
func (x *Shown) checkout(c *Created) Checkout {
	switch {
	case c.Checkout == nil:
		return x.Checkout
	case c.Project != "" && c.Project != x.Project:
		return *c.Checkout
	}
	return x.Checkout.then(*c.Checkout)
}

// A WorkState is what a session is doing.
type WorkState string

// The states of a session.
const (
	StateWorking WorkState = "working" // its agent answers, or runs a tool
	StateWaiting WorkState = "waiting" // for a person, who must permit a call or answer a question
	StateIdle    WorkState = "idle"    // the agent has answered, or was interrupted
	StateFailed  WorkState = "failed"  // the last request ended with an error, or the program died
	StateEnded   WorkState = "ended"   // its program has ended
)

// An Activity is what the events of a session say it is doing. They cannot say that
// the program died, or that it asks for a permission that it does not record: package
// activity also looks at the lease, at the source file and at the agent's hooks.
type Activity struct {
	State WorkState    `json:"state"`
	Since Time         `json:"since,omitzero"` // when the state, or its newest call, began, by the writer's clock
	Seq   Seq          `json:"seq,omitempty"`  // of the event that began it: it has the question or the error
	Calls []ActiveCall `json:"calls,omitempty"`
	May   bool         `json:"may_continue,omitempty"` // idle: the last message does not say that it ends the turn
}

// An ActiveCall is a call that has no result yet.
type ActiveCall struct {
	ID   string  `json:"id"`
	Name string  `json:"name,omitempty"` // of the tool; "" if not known
	Asks AskKind `json:"asks,omitempty"` // "" if no person need answer
	Time Time    `json:"time,omitzero"`
	Seq  Seq     `json:"seq"`
}

// An AskKind is what a person must answer before a call can run or end.
type AskKind string

// What calls ask.
const (
	AsksPermission AskKind = "permission" // whether it may run
	AsksQuestion   AskKind = "question"   // the tool asks a question
)

// maxActive limits how many calls without a result an Activity has: the newest ones.
const maxActive = 16

// Call returns the newest call of a that has no result yet, one that asks a person
// first; nil if there is none.
func (a *Activity) Call() *ActiveCall {
	for i := range a.Calls {
		if c := &a.Calls[len(a.Calls)-1-i]; c.Asks != "" {
			return c
		}
	}
	if len(a.Calls) == 0 {
		return nil
	}
	return &a.Calls[len(a.Calls)-1]
}

// add updates a for the event e of a session.
func (a *Activity) add(e *Event, f *Facts, imported bool) {
	switch {
	case f.Created != nil, f.Rewound != nil:
		a.to(StateIdle, e)
	case f.Message != nil:
		a.say(e, f)
	case f.Tool != nil:
		a.tool(e, f.Tool, imported)
	case f.Step != nil:
		a.step(e, f.Step)
	case f.Amended != nil:
		a.amend(e, f.Amended)
	case f.Ended != nil && (f.Ended.How == "error" || f.Ended.How == "failed"):
		a.to(StateFailed, e)
	case f.Ended != nil:
		a.to(StateEnded, e)
	case e.Kind == KindNoted && endsTurn(e):
		a.to(StateIdle, e)
	case e.Kind == KindResumed && a.State != StateFailed:
		a.to(StateIdle, e)
	}
}

// endsTurn reports whether e is a note of another program that a turn has ended: that
// of Codex when it is done, that of Gemini CLI when a person canceled it.
func endsTurn(e *Event) bool {
	const done, canceled = `_complete"`, `"Request cancelled."`
	if !bytes.Contains(e.Payload, []byte(done)) && !bytes.Contains(e.Payload, []byte(canceled)) {
		return false
	}
	n, err := Decode[Noted](*e)
	switch {
	case err != nil:
		return false
	case n.Name == "codex:event_msg/task_complete", n.Name == "codex:event_msg/turn_complete":
		return true
	}
	return strings.HasSuffix(n.Name, ":info") && bytes.Contains(n.Data, []byte(canceled))
}

// to sets the state that e began; no call is left.
func (a *Activity) to(s WorkState, e *Event) { *a = Activity{State: s, Since: e.Time, Seq: e.Seq} }

// say updates a for a message.
func (a *Activity) say(e *Event, f *Facts) {
	m := f.Message
	switch {
	case m.Role == RoleSystem:
	case m.Error != nil:
		a.to(StateFailed, e)
	case m.Interrupted:
		a.to(StateIdle, e)
	case len(f.Answer) > 0:
		a.answer(e, f.Answer)
	case m.Role == RoleAssistant:
		a.assistant(e, f)
	case m.Role == RoleUser && m.brokenOff():
		a.to(StateIdle, e)
	case m.Typed() && (m.Prompt() != "" || len(f.Blobs) > 0):
		a.to(StateWorking, e)
	}
}

// assistant updates a for what a model said.
func (a *Activity) assistant(e *Event, f *Facts) {
	stop, thinks := f.Message.Stop, true
	for i := range f.Message.Parts {
		p := &f.Message.Parts[i]
		thinks = thinks && p.Kind == PartReasoning
		if p.Kind == PartCall {
			a.call(ActiveCall{ID: p.Call.ID, Name: p.Call.Name, Asks: ToolAsks(p.Call.Name), Time: e.Time, Seq: e.Seq})
		}
	}
	switch {
	case len(f.Calls) > 0, len(a.Calls) > 0 && (stop == "" || continues(stop)):
		a.settle(e)
	case thinks && stop == "", continues(stop):
		a.to(StateWorking, e)
	default:
		a.to(StateIdle, e)
		a.May = stop == ""
	}
}

// continues reports whether a model that stopped for this reason goes on once its
// tools have run.
func continues(stop string) bool {
	switch stop {
	case "tool_use", "tool_calls", "tool-calls", "toolUse", "function_call", "pause_turn":
		return true
	}
	return false
}

// ToolAsks returns what a call of a tool of that name asks a person, if it runs at all;
// "" if nothing.
func ToolAsks(name string) AskKind {
	switch strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "_", ""), "-", "")) {
	case "askuserquestion", "exitplanmode", // Claude Code, Qwen Code
		"askuser",                                // Gemini CLI, Copilot CLI
		"question",                               // opencode
		"requestuserinput",                       // Codex
		"askfollowupquestion", "planmoderespond": // Cline, Roo Code
		return AsksQuestion
	}
	return ""
}

// call notes a call, or what is now known of it.
func (a *Activity) call(c ActiveCall) {
	a.Calls = slices.Clone(a.Calls) // copies of the session share it
	for i := range a.Calls {
		if was := &a.Calls[i]; was.ID == c.ID {
			if c.Name == "" {
				c.Name = was.Name
			}
			*was = c
			return
		}
	}
	a.Calls = append(a.Calls, c)
	a.Calls = a.Calls[max(0, len(a.Calls)-maxActive):]
}

// settle sets the state that follows from the calls without a result: if there are
// none left, the model is to go on.
func (a *Activity) settle(e *Event) {
	calls := a.Calls
	a.to(StateWorking, e)
	if a.Calls = calls; len(calls) == 0 {
		return
	}
	c := a.Call()
	if c.Asks != "" {
		a.State = StateWaiting
	}
	a.Since, a.Seq = c.Time, c.Seq
}

// answer removes the calls that were answered.
func (a *Activity) answer(e *Event, ids []string) {
	a.Calls = slices.DeleteFunc(slices.Clone(a.Calls), func(c ActiveCall) bool { return slices.Contains(ids, c.ID) })
	a.settle(e)
}

// tool updates a for the state of a call.
func (a *Activity) tool(e *Event, t *ToolState, imported bool) {
	i := slices.IndexFunc(a.Calls, func(c ActiveCall) bool { return c.ID == t.Call })
	c := ActiveCall{ID: t.Call, Time: e.Time, Seq: e.Seq}
	if i >= 0 {
		c.Asks = ToolAsks(a.Calls[i].Name)
	}
	switch {
	case t.State == Pending && t.Ask != "":
		c.Asks = AsksPermission
		fallthrough
	case t.State == Running, t.State == Pending && imported && i >= 0:
		if c.Asks == AsksQuestion {
			c.Seq = a.Calls[i].Seq // it has the question
		}
		a.call(c)
		a.settle(e)
	case i < 0:
	case t.State == Pending: // it will not run
		if a.answer(e, []string{t.Call}); len(a.Calls) == 0 {
			a.to(StateIdle, e)
		}
	default:
		a.answer(e, []string{t.Call})
	}
}

// step updates a for the start or end of a request. Only skein numbers attempts: the
// failed ones are retried, or a message with the error follows.
func (a *Activity) step(e *Event, s *Step) {
	switch {
	case s.Mode != "" && s.Mode != "turn": // a title or a summary
	case s.Phase == "start" && len(a.Calls) == 0:
		a.to(StateWorking, e)
	case s.Error != nil && s.Error.Kind == "interrupted", s.Stop == "interrupted", s.Stop == "aborted":
		a.to(StateIdle, e)
	case s.Error != nil && s.Attempt == 0:
		a.to(StateFailed, e)
	}
}

// amend updates a for what was put in another event's place: calls may have been
// answered there.
func (a *Activity) amend(e *Event, of *Amended) {
	if of.Withdrawn || len(a.Calls) == 0 || len(of.Payload) == 0 {
		return
	}
	if t, err := Decode[ToolState](Event{Kind: KindTool, Payload: of.Payload}); err == nil && t.Call != "" {
		if t.State != Running && t.State != Pending {
			a.tool(e, &t, true)
		}
		return
	}
	m, err := Decode[Message](Event{Kind: KindSaid, Payload: of.Payload})
	if err != nil || m.Role == "" {
		return
	}
	for _, p := range m.Parts {
		if p.Result != nil {
			a.answer(e, []string{p.Result.CallID})
		}
	}
}
