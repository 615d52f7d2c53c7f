package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/wire"
)

const (
	patience = 10 * time.Second // for a guest to take a line, or to say who it is
	farewell = time.Second      // for a guest to take what is left when the session is closed
	mostOwn  = 1000             // lines for one guest alone that may wait
	mostWish = 32 << 20         // bytes of a guest's line
)

// A guest is a program that is attached.
type guest struct {
	h     *SessionHub
	by    string
	conn  net.Conn
	at    int64           // number of the last update that it was sent; the greatest if it is sent none
	shown map[string]bool // permissions that it was asked for
	own   []Line          // for it alone
	gone  bool
}

// serve serves one guest until it goes, or the hub is closed.
func (h *SessionHub) serve(c net.Conn) {
	defer c.Close() //nolint:errcheck // nothing is lost
	in := wire.NewReader(c, mostWish)
	var a Attach
	c.SetReadDeadline(time.Now().Add(patience)) //nolint:errcheck // then it takes longer
	if !read(in, &a) {
		return
	}
	c.SetReadDeadline(time.Time{}) //nolint:errcheck // as above
	g := &guest{h: h, by: a.By, conn: c, shown: map[string]bool{}}
	first := h.enter(g, a)
	if g.write(first) != nil || first.Error != "" {
		h.leave(g)
		return
	}
	h.serving.Go(func() {
		defer c.Close() //nolint:errcheck // it ends the reading
		g.send()
	})
	for {
		var w Wish
		if !read(in, &w) {
			break
		}
		result, err := h.grant(g, &w)
		g.tell(answerOf(w.ID, result, err))
	}
	h.leave(g)
}

// read reads a line; false at the end, or if it is too long or not JSON.
func read(in *wire.Reader, v any) bool {
	line, more, err := in.Next()
	return err == nil && !more && json.Unmarshal(line, v) == nil
}

func answerOf(id int64, result any, err error) Line {
	if err != nil {
		return Line{ID: id, Error: err.Error()}
	}
	return Line{ID: id, Result: skein.MustJSON(result)}
}

// enter lets a guest in: either where its cursor is, or at the beginning of the turn.
func (h *SessionHub) enter(g *guest, a Attach) Welcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.guests) >= mostGuests || h.closed {
		return Welcome{Error: fmt.Sprintf("the session has ended, or more than %d are attached", mostGuests)}
	}
	if a.Brief {
		g.at = math.MaxInt64
		h.guests[g] = struct{}{}
		return Welcome{Hub: h.name, Asked: h.open()}
	}
	first := h.n + 1
	if len(h.kept) > 0 {
		first = h.kept[0].N
	}
	if a.Hub == h.name && a.N >= first-1 && a.N <= h.n {
		g.at = a.N
		h.guests[g] = struct{}{}
		return Welcome{Hub: h.name, N: a.N, Continue: true}
	}
	if first > h.turn+1 { // the turn is longer than what is kept
		h.mark()
	}
	base, err := h.owner.Base()
	if err != nil {
		return Welcome{Error: "the session cannot be stored: " + err.Error()}
	}
	g.at = h.turn
	h.guests[g] = struct{}{}
	return Welcome{Hub: h.name, Base: base, N: h.turn}
}

// open returns what nobody has answered; the caller holds h.mu.
func (h *SessionHub) open() (all []OpenPermission) {
	for _, p := range h.asked {
		if !p.deciding {
			all = append(all, OpenPermission{p.name, p.params})
		}
	}
	return all
}

func (h *SessionHub) leave(g *guest) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g.gone = true
	delete(h.guests, g)
	h.changed.Broadcast()
}

// tell sends a line to this guest alone.
func (g *guest) tell(l Line) {
	g.h.mu.Lock()
	defer g.h.mu.Unlock()
	if g.own = append(g.own, l); len(g.own) > mostOwn {
		g.gone = true
	}
	g.h.changed.Broadcast()
}

// send sends what happens until the guest goes, or falls behind.
func (g *guest) send() {
	for {
		all, more := g.next()
		for _, l := range all {
			if g.write(l) != nil {
				return
			}
		}
		if !more {
			return
		}
	}
}

// next waits for what is to be sent; more is false if nothing will follow.
func (g *guest) next() (all []Line, more bool) {
	h := g.h
	h.mu.Lock()
	defer h.mu.Unlock()
	for ; ; h.changed.Wait() {
		if g.gone {
			return nil, false
		}
		if g.at < h.n {
			if h.kept[0].N > g.at+1 {
				return nil, false // it was too slow
			}
			all = append(all, h.kept[g.at+1-h.kept[0].N:]...)
			g.at = h.n
		}
		for _, p := range h.decided {
			if g.shown[p.name] {
				delete(g.shown, p.name)
				all = append(all, Line{Decided: p.name, Decision: p.decision})
			}
		}
		for _, p := range h.asked {
			if !g.shown[p.name] {
				g.shown[p.name] = true
				all = append(all, Line{Ask: p.name, Params: p.params})
			}
		}
		all, g.own = append(all, g.own...), nil
		if h.closed {
			return append(all, Line{End: true}), false
		}
		if len(all) > 0 {
			return all, true
		}
	}
}

func (g *guest) write(l any) error {
	g.h.mu.Lock()
	wait := patience
	if g.h.closed {
		wait = farewell
	}
	err := g.conn.SetWriteDeadline(time.Now().Add(wait))
	g.h.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = g.conn.Write(append(skein.MustJSON(l), '\n'))
	return err
}

// grant does what a guest asks for.
func (h *SessionHub) grant(g *guest, w *Wish) (result any, err error) {
	switch {
	case w.Answer != "":
		return struct{}{}, h.answer(w, g.by)
	case w.Cancel:
		return struct{}{}, h.cancel(g.by)
	case len(w.Prompt) > 0:
		h.mu.Lock()
		h.turns++
		turn := fmt.Sprint(h.turns)
		h.mu.Unlock()
		err := h.owner.Prompt(w.Prompt, g.by, func(result json.RawMessage, err error) {
			l := Line{Turn: turn, Result: result}
			if err != nil {
				l.Error = err.Error()
			}
			g.tell(l)
		})
		return map[string]string{"turn": turn}, err
	}
	return nil, errors.New("nothing is asked for")
}

// answer gives the agent the answer to a permission, unless it has one.
func (h *SessionHub) answer(w *Wish, by string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.find(w.Answer)
	if p == nil {
		return fmt.Errorf("permission %s: %w: it is not asked for", w.Answer, skein.ErrNotFound)
	}
	for p.deciding && p.decision == nil && !h.closed {
		h.changed.Wait()
	}
	if p.decision != nil {
		return late(p)
	}
	params := p.params
	if w.Once {
		params = OfferOnce(params)
	}
	d := decisionOf(params, w.Result, by)
	if d.Outcome == "selected" && d.Name == "" {
		return fmt.Errorf("option %q: %w: the agent does not offer it", d.Option, skein.ErrInvalid)
	}
	p.deciding = true
	h.mu.Unlock()
	result := w.Result
	if w.Once { // the agent might find another option in the client's own words
		result = skein.MustJSON(map[string]any{"outcome": chosenOption{d.Outcome, d.Option}})
	}
	err := h.owner.Decide(p.id, result, by)
	h.mu.Lock()
	p.deciding = false
	h.changed.Broadcast()
	switch {
	case errors.Is(err, ErrAnswered):
		for p.decision == nil && !h.closed { // the editor was faster, and says so next
			h.changed.Wait()
		}
		return late(p)
	case err == nil && p.decision == nil:
		h.decide(p, d)
	}
	return err
}

func late(p *askedPermission) error {
	if p.decision == nil {
		return fmt.Errorf("%w: the session has ended", ErrAnswered)
	}
	return fmt.Errorf("%w: %s", ErrAnswered, p.decision.Words())
}

// find returns a permission, nil if none has that name; the caller holds h.mu.
func (h *SessionHub) find(name string) *askedPermission {
	for _, p := range slices.Concat(h.asked, h.decided) {
		if p.name == name {
			return p
		}
	}
	return nil
}

// cancel cancels the turn, and with it what is asked: in this order, because the answers
// may end the turn, and the next one is not to be canceled.
func (h *SessionHub) cancel(by string) error {
	h.mu.Lock()
	asked := append([]*askedPermission(nil), h.asked...)
	h.mu.Unlock()
	err := h.owner.Cancel(by)
	for _, p := range asked {
		// Whoever was faster has answered it.
		_ = h.answer(&Wish{Answer: p.name, Result: json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`)}, by) //nolint:errcheck // see above
	}
	return err
}
