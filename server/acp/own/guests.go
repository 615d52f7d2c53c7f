package own

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
)

// sessionGuests is what others who are attached to a session may have done. It implements
// [live.Owner].
type sessionGuests struct {
	s *session

	mu    sync.Mutex
	last  skein.Seq // newest event that is known
	base  skein.Seq // that before the turn
	asked map[string]openQuestion
}

// An openQuestion is one that the editor is asked, by the ID of the request.
type openQuestion struct {
	params json.RawMessage
	at     skein.Time
}

// letIn lets others attach to the session, whose newest event is last.
func (s *session) letIn(last skein.Seq) {
	s.guests = &sessionGuests{s: s, last: last, base: last, asked: map[string]openQuestion{}}
	if s.c.o.Live.Dir == "" {
		return
	}
	s.live = live.NewHub(s.guests, s.id, string(skein.NewSessionID(s.c.o.Now())))
	go func() { // until the hub is closed
		if err := s.live.Serve(s.c.ctx, s.c.o.Live); err != nil {
			s.note("warning", "nobody else can attach to this session: "+err.Error())
		}
	}()
}

// turn answers a prompt, which those who are attached see too.
func (s *session) turn(ctx context.Context, p *requestParams, by string) (map[string]any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err // before its turn came
	}
	if now, err := s.c.o.Store.Session(ctx, s.id); err == nil { // else guests are shown more twice
		s.guests.stored(now.Last)
	}
	s.live.Begin(skein.MustJSON(p.Prompt), by, func() {})
	r, err := s.respond(ctx, p)
	switch {
	case errors.Is(err, context.Canceled):
		s.live.End(skein.MustJSON(stopped("cancelled")), nil)
	case err != nil:
		s.live.End(nil, errors.New(s.c.o.Explain(err)))
	default:
		s.live.End(skein.MustJSON(r), nil)
	}
	return r, err
}

// editor returns what the editor calls itself.
func (g *sessionGuests) editor() string {
	c := g.s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.client.name, "the editor")
}

// stored notes that the events up to seq are stored.
func (g *sessionGuests) stored(seq skein.Seq) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, seq)
}

// Base implements [live.Owner]. What the agent says is stored before its turn ends.
func (g *sessionGuests) Base() (skein.Seq, error) { return g.Known(), nil }

// Known implements [live.Owner].
func (g *sessionGuests) Known() skein.Seq {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.base
}

// Mark implements [live.Owner]. A message that is not complete is not stored, so a guest
// that comes in a turn of which the hub has lost the beginning sees only its end.
func (g *sessionGuests) Mark() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.base = g.last
}

// asks asks the guests what the editor is asked in a request.
func (g *sessionGuests) asks(request string, params json.RawMessage) {
	g.mu.Lock()
	g.asked[request] = openQuestion{params, skein.At(g.s.c.o.Now())}
	g.mu.Unlock()
	g.s.live.Ask(request, params)
}

// decided tells the guests what the editor has answered, or the end of the turn.
func (g *sessionGuests) decided(request string, result json.RawMessage, by string) {
	g.mu.Lock()
	delete(g.asked, request)
	g.mu.Unlock()
	g.s.live.Decided(request, result, by)
}

// Decide implements [live.Owner].
func (g *sessionGuests) Decide(request string, result json.RawMessage, by string) error {
	g.mu.Lock()
	q := g.asked[request]
	g.mu.Unlock()
	c := g.s.c
	answer := c.takeAsked(request)
	if answer == nil {
		return live.ErrAnswered
	}
	if err := g.note(record.Decision(by, q.params, q.at, result)); err != nil {
		c.mu.Lock()
		c.asked[request] = answer // anybody may try again
		c.mu.Unlock()
		return err
	}
	g.mu.Lock()
	delete(g.asked, request)
	g.mu.Unlock()
	answer <- message{Result: result, by: by}
	about := map[string]any{"requestId": json.RawMessage(request), "_meta": map[string]any{"skein": map[string]any{"by": by}}}
	c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/cancel_request","params":%s}`+"\n", skein.MustJSON(about)))
	return nil
}

// Prompt implements [live.Owner]. The prompt takes its turn among the editor's requests
// about the session.
func (g *sessionGuests) Prompt(blocks json.RawMessage, by string, ended func(json.RawMessage, error)) error {
	s, c := g.s, g.s.c
	var params requestParams
	if err := json.Unmarshal(blocks, &params.Prompt); err != nil {
		return fmt.Errorf("prompt: %w: %w", skein.ErrInvalid, err)
	}
	p := record.GuestPrompt{ID: string(skein.NewSessionID(c.o.Now())), By: by, Blocks: blocks}
	if err := g.note(p.Waits()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.ctx)
	r := &editorRequest{session: s.id, waits: true, cancel: cancel}
	c.mu.Lock()
	c.doing[p.ID] = r
	waits := c.queues[s.id] != nil
	c.mu.Unlock()
	if waits {
		s.live.State(map[string]any{"waits": true, "by": by})
	}
	c.after(s.id, func() {
		defer cancel()
		result, err := g.run(ctx, r, p, &params)
		c.mu.Lock()
		delete(c.doing, p.ID)
		c.mu.Unlock()
		ended(result, err)
	})
	return nil
}

// run answers a guest's prompt when its turn has come.
func (g *sessionGuests) run(ctx context.Context, r *editorRequest, p record.GuestPrompt, params *requestParams) (json.RawMessage, error) {
	s, c := g.s, g.s.c
	c.mu.Lock()
	r.waits, r.prompts = false, true
	c.mu.Unlock()
	if ctx.Err() != nil || c.session(s.id) != s {
		return nil, errors.New("the session was closed before its turn; the prompt is stored")
	}
	if err := g.note(p.Begins()); err != nil {
		return nil, err
	}
	for _, b := range params.Prompt {
		c.write(stored.Update(s.id, skein.MustJSON(map[string]any{"sessionUpdate": "user_message_chunk", "content": b})))
	}
	result, err := s.turn(ctx, params, p.By)
	switch {
	case errors.Is(err, context.Canceled):
		return skein.MustJSON(stopped("cancelled")), nil
	case err != nil:
		return nil, errors.New(c.o.Explain(err))
	}
	return skein.MustJSON(result), nil
}

// Cancel implements [live.Owner].
func (g *sessionGuests) Cancel(by string) error {
	err := g.note(skein.Noted{Name: "acp:session/cancel", Data: skein.MustJSON(map[string]any{"by": by})})
	g.s.c.cancelTurns(g.s.id)
	return err
}

func (g *sessionGuests) note(n skein.Noted) error {
	c := g.s.c
	_, err := skein.Add(context.WithoutCancel(c.ctx), c.o.Store, g.s.id, skein.NewEvent(skein.KindNoted, skein.At(c.o.Now()), n))
	return err
}

// tellUnsent tells the editor of prompts that waited when the program that had the
// session ended. They are not sent: their time may have passed.
func (g *sessionGuests) tellUnsent(ctx context.Context) error {
	var unsent []record.GuestPrompt
	for e, err := range g.s.c.o.Store.Events(ctx, g.s.id, 0) {
		if err != nil {
			return err
		}
		if e.Kind == skein.KindNoted {
			if n, err := skein.Decode[skein.Noted](e); err == nil { // else it is shown as damaged elsewhere
				unsent = record.Unsent(unsent, &n)
			}
		}
	}
	for _, p := range unsent {
		if err := g.note(p.Unsent()); err != nil {
			return err
		}
		g.s.note("warning", "Not sent, because skein ended while it waited: "+p.By+": "+p.Words())
	}
	return nil
}
