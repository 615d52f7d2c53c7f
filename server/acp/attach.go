package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/acp/wire"
)

// openHub lets other programs attach to a session, once it has the session's lease.
func (r *relay) openHub(s *session) {
	if r.o.Live.Dir == "" {
		return
	}
	s.live = live.NewHub(&sessionOwner{r, s}, s.outer, string(skein.NewSessionID(r.o.Now())))
	go func() {
		if s.rec.Held() != nil {
			return
		}
		if err := s.live.Serve(r.ctx, r.o.Live); err != nil {
			fmt.Fprintf(r.o.Errs, "skein: nobody can attach to the session %s: %v\n", s.outer, err) //nolint:errcheck // there is nobody else to tell
		}
	}()
}

// A turnQueue is the order of prompts to one session. A prompt of the editor's waits only
// for those of others: what an agent makes of two at a time is between these two.
type turnQueue struct {
	running int  // prompts that the agent has not answered
	guests  bool // one of them is not the editor's
	waiting []waitingTurn
}

// A waitingTurn is a prompt that waits.
type waitingTurn struct {
	start func()
	drop  func() // answers the editor's prompt without a turn; nil for a guest's
}

// turn starts a turn now, or after those before it, and reports whether it waits.
func (r *relay) turn(s *session, t waitingTurn) (waits bool) {
	r.mu.Lock()
	q := &s.turns
	if len(q.waiting) > 0 || q.running > 0 && (q.guests || t.drop == nil) {
		q.waiting = append(q.waiting, t)
		r.mu.Unlock()
		return true
	}
	q.running, q.guests = q.running+1, q.guests || t.drop == nil
	r.mu.Unlock()
	t.start()
	return false
}

// turnEnded says that a turn has ended, and starts the next one.
func (r *relay) turnEnded(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := &s.turns
	if q.running = max(0, q.running-1); q.running > 0 {
		return
	}
	if q.guests = false; len(q.waiting) == 0 {
		return
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	q.running, q.guests = 1, t.drop == nil
	go t.start() // the agent may have to say more before it reads
}

// isTurn reports whether a message of the editor's is a prompt, and starts its turn.
func (r *relay) isTurn(m *wire.Message, line []byte) bool {
	s := r.byOuter(m.Session(line))
	if s == nil || m.Method != "session/prompt" || !m.IsRequest() {
		return false
	}
	all, id := []wire.Message{*m}, m.ID
	r.turn(s, waitingTurn{
		start: func() { r.pass(line, all) },
		drop: func() {
			r.toEditor.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`+"\n", id))
		},
	})
	return true
}

// dropWaiting drops the editor's prompts that wait: the editor has canceled them.
func (r *relay) dropWaiting(s *session) {
	var dropped []func()
	r.mu.Lock()
	s.turns.waiting = slices.DeleteFunc(s.turns.waiting, func(t waitingTurn) bool {
		if t.drop != nil {
			dropped = append(dropped, t.drop)
		}
		return t.drop != nil
	})
	r.mu.Unlock()
	for _, drop := range dropped {
		drop()
	}
}

// tooLate reports whether a message is the editor's answer to what a guest has answered.
func (r *relay) tooLate(m *wire.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := m.IsAnswer() && r.given[m.ID]
	if late {
		delete(r.given, m.ID)
	}
	return late
}

// refusal returns the error that an answer is, nil if it is none.
func refusal(failed []byte) error {
	if len(failed) == 0 {
		return nil
	}
	var e struct{ Message string }
	_ = json.Unmarshal(failed, &e) // else it says nothing
	return fmt.Errorf("the agent: %s", e.Message)
}

// A sessionOwner is what guests of a session may have done. It implements [live.Owner].
type sessionOwner struct {
	r *relay
	s *session
}

// Base implements [live.Owner].
func (o *sessionOwner) Base() (skein.Seq, error) {
	err := o.s.rec.Flush()
	return o.s.rec.Base(), err
}

// Known implements [live.Owner].
func (o *sessionOwner) Known() skein.Seq { return o.s.rec.Base() }

// Mark implements [live.Owner].
func (o *sessionOwner) Mark() { o.s.rec.MarkTurn() }

// Decide implements [live.Owner].
func (o *sessionOwner) Decide(id string, result json.RawMessage, by string) error {
	r, s := o.r, o.s
	r.mu.Lock()
	q, ok := r.asking[id]
	if ok {
		delete(r.asking, id)
		r.given[id] = true
	}
	r.mu.Unlock()
	if !ok {
		return live.ErrAnswered
	}
	s.rec.DecidedBy(by, q.params, q.at, result, nil)
	if err := s.rec.Flush(); err != nil {
		return errors.New(notStored(err)) // as when the editor answers, the agent does not see it
	}
	s.toAgent.pass(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result), nil)
	why := skein.MustJSON(map[string]any{"skein": map[string]any{"by": by}})
	s.toEditor.pass(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s,"_meta":%s}}`+"\n", id, why), nil)
	return nil
}

// Prompt implements [live.Owner].
func (o *sessionOwner) Prompt(blocks json.RawMessage, by string, ended func(json.RawMessage, error)) error {
	r, s := o.r, o.s
	stored := make(chan error, 1)
	p := record.GuestPrompt{ID: string(skein.NewSessionID(r.o.Now())), By: by, Blocks: blocks}
	start := func() {
		s.live.Begin(blocks, by, func() { s.rec.Guest(p) })
		err := s.rec.Flush()
		if stored <- err; err != nil {
			o.end(nil, err, ended)
			return
		}
		o.show(blocks)
		go o.send(blocks, ended)
	}
	waits := r.turn(s, waitingTurn{start: func() { start() }})
	if !waits {
		return <-stored
	}
	s.rec.Waits(p)
	if err := s.rec.Flush(); err != nil {
		return err
	}
	s.live.State(map[string]any{"waits": true, "by": by})
	return nil
}

// show shows the editor a prompt that is not its own.
func (o *sessionOwner) show(blocks json.RawMessage) {
	var all []json.RawMessage
	_ = json.Unmarshal(blocks, &all) // else it is not shown
	for _, b := range all {
		u := skein.MustJSON(map[string]any{"sessionUpdate": "user_message_chunk", "content": b})
		o.s.toEditor.pass(stored.Update(o.s.outer, u), nil)
	}
}

// send sends a prompt that is stored, and waits for the end of its turn.
func (o *sessionOwner) send(blocks json.RawMessage, ended func(json.RawMessage, error)) {
	r, s := o.r, o.s
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":%s,"prompt":%s}}`, wire.Quote(s.inner), blocks)
	all, _ := wire.Scan(line)
	line, all = r.beforeTurn(s, line, all)
	result, err := r.request(context.WithoutCancel(r.ctx), "session/prompt", json.RawMessage(all[0].Params.Of(line)))
	var failed []byte
	if err != nil {
		failed = skein.MustJSON(map[string]any{"code": -32603, "message": err.Error()})
	}
	s.rec.Answered(result, failed)
	if e := s.rec.Flush(); e != nil && err == nil {
		err = errors.New(notStored(e))
	}
	o.end(result, err, ended)
}

func (o *sessionOwner) end(result json.RawMessage, err error, ended func(json.RawMessage, error)) {
	o.s.live.End(result, err)
	o.r.turnEnded(o.s)
	ended(result, err)
}

// Cancel implements [live.Owner].
func (o *sessionOwner) Cancel(by string) error {
	o.s.rec.Note("session/cancel", skein.MustJSON(map[string]any{"by": by}))
	o.s.toAgent.pass(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%s}}`+"\n", wire.Quote(o.s.inner)), nil)
	return nil
}
