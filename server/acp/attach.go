package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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

// isTurn reports whether a message of the editor's is a prompt, and starts its turn.
func (r *relay) isTurn(m *wire.Message, line []byte) bool {
	s := r.sessions.byOuter(m.Session(line))
	if s == nil || m.Method != "session/prompt" || !m.IsRequest() {
		return false
	}
	all, id := []wire.Message{*m}, m.ID
	s.turns.add(waitingTurn{
		start: func() { r.pass(line, all) },
		drop: func() {
			r.toEditor.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`+"\n", id))
		},
	})
	return true
}

// refusal returns the error that an answer is, nil if it is none.
func refusal(failed []byte) error {
	if len(failed) == 0 {
		return nil
	}
	return errors.New("the agent: " + errorText(failed))
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
	q, ok := r.asking.give(id)
	if !ok {
		return live.ErrAnswered
	}
	s.rec.Decided(by, q.params, q.at, result, nil)
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
	waits := s.turns.add(waitingTurn{start: func() { start() }})
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
	line, all = s.beforeTurn(line, all)
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
	o.s.turns.ended()
	ended(result, err)
}

// Cancel implements [live.Owner].
func (o *sessionOwner) Cancel(by string) error {
	o.s.rec.Note("session/cancel", skein.MustJSON(map[string]any{"by": by}))
	o.s.toAgent.pass(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%s}}`+"\n", wire.Quote(o.s.inner)), nil)
	return nil
}
