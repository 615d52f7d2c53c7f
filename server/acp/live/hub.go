package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

const (
	mostKept    = 2 << 20 // bytes of updates that a hub keeps
	mostGuests  = 64
	mostDecided = 200 // decisions that are remembered, for guests that come too late
)

// ErrAnswered says that somebody else answered first.
var ErrAnswered = errors.New("this was answered before")

// An Owner is what a hub needs of the process that has the session.
type Owner interface {
	// Base waits until what was said is stored, and returns the seq of the last event
	// before the turn that the newest Mark of the session's recording began.
	Base() (skein.Seq, error)

	// Known returns the newest seq that Base would return without waiting.
	Known() skein.Seq

	// Mark makes what follows belong to a new turn.
	Mark()

	// Decide gives the agent the answer to what it asked, once the answer is stored. The
	// error wraps [ErrAnswered] if it was given before.
	Decide(id string, result json.RawMessage, by string) error

	// Prompt stores a prompt, and sends it to the agent after those before it. ended is
	// called with the end of its turn.
	Prompt(blocks json.RawMessage, by string, ended func(result json.RawMessage, err error)) error

	// Cancel cancels the turn.
	Cancel(by string) error
}

// A SessionHub passes on what happens in a session to its guests. All methods of a nil SessionHub do
// nothing but record; all may be called from several goroutines.
type SessionHub struct {
	owner   Owner
	session skein.SessionID
	name    string

	mu      sync.Mutex
	changed sync.Cond
	kept    []Line // the newest updates
	size    int
	n       int64 // number of the newest update
	turn    int64 // number of the one before the turn's first
	asked   []*askedPermission
	decided []*askedPermission // the newest last
	guests  map[*guest]struct{}
	conns   map[net.Conn]struct{}
	turns   int
	closed  bool

	listener net.Listener
	serving  sync.WaitGroup
}

// An askedPermission is one that the agent asks for.
type askedPermission struct {
	id       string // as the agent named it
	name     string // as guests know it: the next hub of the session asks for others
	params   json.RawMessage
	decision *PermissionDecision
	deciding bool // a guest has answered it; that is being stored
}

// NewHub returns the hub of a session.
func NewHub(owner Owner, id skein.SessionID, name string) *SessionHub {
	h := &SessionHub{owner: owner, session: id, name: name, guests: map[*guest]struct{}{}, conns: map[net.Conn]struct{}{}}
	h.changed.L = &h.mu
	return h
}

// Serve lets guests in, until the hub is closed. The caller has the session's lease.
//
// The error is the system's: the session cannot be attached to.
func (h *SessionHub) Serve(ctx context.Context, at Sockets) error {
	l, err := at.listen(ctx, h.session)
	if err != nil {
		return err
	}
	return h.accept(l)
}

func (h *SessionHub) accept(l net.Listener) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return l.Close()
	}
	h.listener = l
	h.serving.Add(1)
	h.mu.Unlock()
	defer h.serving.Done()
	for {
		c, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return nil
			}
			return err
		}
		h.mu.Lock()
		h.conns[c] = struct{}{}
		if h.closed {
			c.Close() //nolint:errcheck // nothing was said
		}
		h.mu.Unlock()
		h.serving.Go(func() {
			h.serve(c)
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.conns, c)
		})
	}
}

// Close lets all guests go, once they have been sent what happened if they take it.
func (h *SessionHub) Close() {
	if h == nil {
		return
	}
	h.mu.Lock()
	h.closed = true
	l := h.listener
	for c := range h.conns {
		c.SetDeadline(time.Now().Add(farewell)) //nolint:errcheck // then it takes longer
	}
	h.changed.Broadcast()
	h.mu.Unlock()
	if l != nil {
		l.Close() //nolint:errcheck // the process that follows removes it
	}
	h.serving.Wait()
}

// Update records an update by record, and passes it on. params are those of
// session/update.
func (h *SessionHub) Update(params []byte, record func()) {
	if h == nil {
		record()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	record()
	h.keep(wire.With(params, "sessionId", wire.Quote(string(h.session))))
}

// Say passes on an update that is not the agent's, or is recorded otherwise.
func (h *SessionHub) Say(update any) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.say(update)
}

func (h *SessionHub) say(update any) {
	h.keep(skein.MustJSON(map[string]any{"sessionId": h.session, "update": update}))
}

// State says in the hub's own words what is new about the session.
func (h *SessionHub) State(what map[string]any) { h.Say(stateOf(what)) }

func stateOf(what map[string]any) map[string]any {
	return map[string]any{"sessionUpdate": "session_info_update", "_meta": map[string]any{"skein": what}}
}

// keep keeps an update for the guests; the caller holds h.mu. What is not JSON is not
// for them.
func (h *SessionHub) keep(params []byte) {
	if !json.Valid(params) {
		return
	}
	h.n++
	h.kept, h.size = append(h.kept, Line{N: h.n, Base: h.owner.Known(), Update: params}), h.size+len(params)
	for h.size > mostKept && len(h.kept) > 1 {
		h.size -= len(h.kept[0].Update)
		h.kept = h.kept[1:]
	}
	h.changed.Broadcast()
}

// Begin begins a turn by record, which records its prompt.
func (h *SessionHub) Begin(blocks json.RawMessage, by string, record func()) {
	if h == nil {
		record()
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mark()
	record()
	for _, b := range elements(blocks) {
		h.say(map[string]any{"sessionUpdate": "user_message_chunk", "content": b, "_meta": map[string]any{"skein": map[string]any{"by": by}}})
	}
	h.say(stateOf(map[string]any{"state": "working", "by": by}))
}

// mark makes what follows a turn; the caller holds h.mu.
func (h *SessionHub) mark() {
	h.owner.Mark()
	h.turn = h.n
}

func elements(blocks json.RawMessage) (all []json.RawMessage) {
	_ = json.Unmarshal(blocks, &all) // else it is not shown
	return all
}

// End says that a turn has ended. What was asked in it and has no answer will have none.
func (h *SessionHub) End(result json.RawMessage, failure error) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.asked) > 0 {
		h.decide(h.asked[0], PermissionDecision{By: "the end of the turn", Outcome: "cancelled"})
	}
	what := map[string]any{"state": "idle"}
	var r struct{ StopReason string }
	if json.Unmarshal(result, &r) == nil && r.StopReason != "" {
		what["stopReason"] = r.StopReason
	}
	if failure != nil {
		what["error"] = failure.Error()
	}
	h.say(stateOf(what))
}

// Ask asks the guests for a permission too. id is the agent's of the request.
func (h *SessionHub) Ask(id string, params []byte) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !json.Valid(params) {
		return
	}
	h.turns++
	p := &askedPermission{id: id, name: fmt.Sprintf("%s.%d", h.name, h.turns), params: wire.With(params, "sessionId", wire.Quote(string(h.session)))}
	h.asked = append(h.asked, p)
	h.changed.Broadcast()
}

// Decided says that a permission was decided. result is the answer to the agent.
func (h *SessionHub) Decided(id string, result []byte, by string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.asked {
		if p.id == id {
			h.decide(p, decisionOf(p.params, result, by))
			return
		}
	}
}

// decide makes a decision known; the caller holds h.mu.
func (h *SessionHub) decide(p *askedPermission, d PermissionDecision) {
	for i, q := range h.asked {
		if q == p {
			h.asked = append(h.asked[:i:i], h.asked[i+1:]...)
			break
		}
	}
	p.decision, p.deciding = &d, false
	if h.decided = append(h.decided, p); len(h.decided) > mostDecided {
		h.decided = h.decided[1:]
	}
	var call struct{ ToolCall struct{ ToolCallID string } }
	_ = json.Unmarshal(p.params, &call) // else it names none
	h.say(stateOf(map[string]any{"decision": d, "toolCallId": call.ToolCall.ToolCallID}))
}

// chosenOption is the outcome of a request for a permission, as the agent is told.
type chosenOption struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitempty"`
}

// decisionOf returns what an answer to a request for a permission says.
func decisionOf(params, result []byte, by string) PermissionDecision {
	var a struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(result, &a) // else it is an error, which allows nothing
	d := PermissionDecision{By: by, Outcome: "cancelled"}
	if a.Outcome.Outcome == "selected" {
		d.Outcome, d.Option = a.Outcome.Outcome, a.Outcome.OptionID
	}
	var p struct {
		Options []struct{ OptionID, Name string }
	}
	_ = json.Unmarshal(params, &p) // else it offers none
	for _, o := range p.Options {
		if o.OptionID == d.Option {
			d.Name = o.Name
		}
	}
	return d
}

// DecidesOnce reports whether an option of this kind decides only about the call that is
// asked for. The others decide about later calls too.
func DecidesOnce(kind string) bool { return kind == "allow_once" || kind == "reject_once" }

// OfferOnce returns the params of a request for a permission without the options that
// decide about later calls too.
func OfferOnce(params json.RawMessage) json.RawMessage {
	var p map[string]json.RawMessage
	var offered []json.RawMessage
	if json.Unmarshal(params, &p) != nil || json.Unmarshal(p["options"], &offered) != nil {
		return params // it offers none
	}
	once := []json.RawMessage{}
	for _, o := range offered {
		var option struct{ Kind string }
		if json.Unmarshal(o, &option) == nil && DecidesOnce(option.Kind) {
			once = append(once, o)
		}
	}
	if len(once) == len(offered) {
		return params
	}
	p["options"] = skein.MustJSON(once)
	return skein.MustJSON(p)
}
