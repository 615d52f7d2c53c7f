package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/record"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/lenient"
)

// An updateCursor is a place in a session.
type updateCursor struct {
	seq skein.Seq
	hub string
	n   int64
}

func (c updateCursor) String() string {
	if c.hub == "" {
		return strconv.FormatInt(int64(c.seq), 10)
	}
	return fmt.Sprintf("%d.%s.%d", c.seq, c.hub, c.n)
}

// cursorOf reads a cursor; "" is the beginning. The error wraps [skein.ErrInvalid].
func cursorOf(s string) (c updateCursor, err error) {
	if s == "" {
		return c, nil
	}
	part := strings.Split(s, ".")
	seq, err := strconv.ParseInt(part[0], 10, 64)
	if c.seq = skein.Seq(seq); err == nil && len(part) == 3 {
		c.hub = part[1]
		c.n, err = strconv.ParseInt(part[2], 10, 64)
	}
	if err != nil || len(part) != 1 && len(part) != 3 || seq < 0 {
		return c, fmt.Errorf("_meta.skein.after %q: %w: it is not a cursor from here", s, skein.ErrInvalid)
	}
	return c, nil
}

// A watching is a session that a client watches.
type watching struct {
	*acpClient
	id     skein.SessionID
	cwd    string
	v      door.Visitor
	store  skein.Store
	hubs   live.Sockets // of the session's user
	cancel context.CancelFunc
	at     updateCursor
	held   heldText

	mu    sync.Mutex
	hub   *live.Attachment // nil while the session is not live
	mine  map[string]bool  // permissions that this client has answered
	turns map[string]json.RawMessage
	ended map[string]live.Line // turns whose prompt is not known yet
}

// load shows a session from a cursor, and goes on watching it. Without a cursor, all of
// it is shown, or nothing that is stored.
func (c *acpClient) load(v door.Visitor, r *request, all bool) (any, error) {
	at, err := cursorOf(r.Meta.Skein.After)
	if err != nil {
		return nil, err
	}
	id := skein.SessionID(r.SessionID)
	store := lenient.Store(v.Store, nil)
	s, err := (&stored.Catalog{Store: store}).Session(c.ctx, id)
	if err != nil {
		return nil, err
	}
	if !all && r.Meta.Skein.After == "" {
		at.seq = s.Last
	}
	c.detach(id)
	ctx, cancel := context.WithCancel(c.ctx)
	w := &watching{acpClient: c, id: id, cwd: s.Cwd, v: v, store: store, hubs: c.Live.Of(s.User), cancel: cancel, at: at, mine: map[string]bool{}, turns: map[string]json.RawMessage{}, ended: map[string]live.Line{}}
	from, isLive, err := w.catchUp(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	c.mu.Lock()
	c.open[id] = w
	c.mu.Unlock()
	c.working.Go(func() { w.run(ctx) })
	return map[string]any{"_meta": map[string]any{"skein": map[string]any{"from": from, "live": isLive}}}, nil
}

// catchUp attaches to the hub of the session, if it has one, and shows what is stored and
// the hub does not show. from is the place that it began at.
func (w *watching) catchUp(ctx context.Context) (from string, isLive bool, err error) {
	hub, err := w.hubs.Attach(ctx, w.id, live.Attach{By: w.v.Name(), Hub: w.at.hub, N: w.at.n})
	if err != nil && !errors.Is(err, skein.ErrNotFound) {
		return "", false, err
	}
	w.mu.Lock()
	w.hub = hub
	w.mu.Unlock()
	if hub != nil && hub.Continue {
		return w.at.String(), true, nil
	}
	if w.at.hub != "" { // the client drops what it has after that
		w.at = updateCursor{seq: w.at.seq}
		w.update(updateCursor{}, stateOf(map[string]any{"from": w.at.String()}))
	}
	from = w.at.String()
	to := skein.Seq(1 << 62)
	if hub != nil {
		to = hub.Base
	}
	if err := w.replay(ctx, to); err != nil {
		if hub != nil {
			hub.Close()
		}
		return "", false, err
	}
	if hub != nil {
		w.at.seq, w.at.hub, w.at.n = max(w.at.seq, hub.Base), hub.Hub, hub.N
	}
	return from, hub != nil, nil
}

func stateOf(what map[string]any) json.RawMessage {
	return skein.MustJSON(map[string]any{"sessionUpdate": "session_info_update", "_meta": map[string]any{"skein": what}})
}

// replay shows the messages after the cursor, up to the seq to.
func (w *watching) replay(ctx context.Context, to skein.Seq) error {
	for e, err := range stored.Entries(ctx, w.store, w.id) {
		if err != nil {
			return err
		}
		if e.Seq > w.at.seq && e.Seq <= to {
			w.entry(ctx, &e)
		}
	}
	return ctx.Err()
}

// entry shows a message.
func (w *watching) entry(ctx context.Context, e *skein.Entry) {
	shown := *e
	if w.veils() {
		shown = w.Redact.Entry(*e)
	}
	all := record.Replay(&shown, w.cwd, func(h skein.Hash) []byte {
		b, _ := w.store.Blob(ctx, w.id, h) //nolint:errcheck // what cannot be read is shown empty
		return b
	})
	for i, u := range all {
		at := updateCursor{}
		if i == len(all)-1 {
			at.seq = e.Seq
		}
		w.update(at, u)
	}
	w.at = updateCursor{seq: e.Seq}
}

// veils reports whether the client may not see secrets.
func (w *watching) veils() bool { return w.Redact != nil && !w.v.Raw }

// update sends an update, with a cursor if a client can continue after it.
func (w *watching) update(at updateCursor, u json.RawMessage) {
	p := map[string]any{"sessionId": w.id, "update": u}
	if at != (updateCursor{}) {
		p["_meta"] = map[string]any{"skein": map[string]any{"cursor": at.String()}}
	}
	w.reply(string(w.id), rpcMessage{Method: "session/update", Params: skein.MustJSON(p)})
}

// run shows what happens until the client detaches.
func (w *watching) run(ctx context.Context) {
	defer w.cancel()
	for ctx.Err() == nil {
		w.mu.Lock()
		hub := w.hub
		w.mu.Unlock()
		if hub != nil {
			whole := w.follow(hub)
			if ctx.Err() != nil {
				return
			}
			w.lost(ctx, whole)
			continue
		}
		if !w.wait(ctx) {
			return
		}
	}
}

// lost goes on after the end of a hub: after what is stored if the hub has shown all of
// that. Else the hub was too fast or its program was killed, and it goes on at the cursor.
func (w *watching) lost(ctx context.Context, whole bool) {
	w.mu.Lock()
	open := w.turns
	w.hub, w.turns = nil, map[string]json.RawMessage{}
	w.mu.Unlock()
	for _, id := range open {
		w.fail(string(w.id), id, errors.New("the program that has the session has ended; the prompt is stored"))
	}
	hub, err := w.hubs.Attach(ctx, w.id, live.Attach{By: w.v.Name(), Hub: w.at.hub, N: w.at.n})
	if err == nil && hub.Continue {
		w.mu.Lock()
		w.hub = hub
		w.mu.Unlock()
		return
	}
	if err == nil {
		hub.Close()
	}
	if whole {
		s, err := w.store.Session(ctx, w.id)
		if err != nil {
			w.cancel()
			return
		}
		w.at = updateCursor{seq: s.Last}
	} else {
		w.again(ctx) // no hub has the rest, but the store
	}
	if w.hub == nil {
		w.update(updateCursor{}, stateOf(map[string]any{"live": false}))
	}
}

// again catches up once more, as for a client that comes back.
func (w *watching) again(ctx context.Context) {
	if _, _, err := w.catchUp(ctx); err != nil {
		w.cancel()
	}
}

// wait waits for the next event of a session that is not live, and shows it, or what
// happens in a program that has opened the session. It returns false at the end.
func (w *watching) wait(ctx context.Context) bool {
	for e, err := range w.store.Watch(ctx, w.id, w.at.seq) {
		if err != nil {
			return false
		}
		if hub, err := w.hubs.Attach(ctx, w.id, live.Attach{By: w.v.Name()}); err == nil {
			hub.Close()
			w.again(ctx)
			if w.hub != nil {
				w.update(updateCursor{}, stateOf(map[string]any{"live": true}))
			}
			return true
		}
		m, err := skein.Decode[skein.Message](e)
		if e.Kind != skein.KindSaid || err != nil {
			w.at.seq = e.Seq
			continue
		}
		w.entry(ctx, &skein.Entry{Seq: e.Seq, Message: m})
	}
	return false
}

// follow shows what a hub sends, until it ends. It reports whether that is all that
// happened in the session.
func (w *watching) follow(hub *live.Attachment) (whole bool) {
	defer hub.Close()
	for {
		l, err := hub.Read()
		if err != nil {
			w.flush()
			return whole
		}
		whole = l.End
		w.line(hub, l)
	}
}

// line passes on a line of a hub.
func (w *watching) line(hub *live.Attachment, l live.Line) {
	if l.Update != nil {
		at := updateCursor{l.Base, hub.Hub, l.N}
		if w.veils() {
			w.veiled(at, l.Update)
			return
		}
		w.params(at, l.Update)
		return
	}
	w.flush()
	switch {
	case l.Ask != "":
		if w.v.Scope >= door.Answer {
			if w.v.Scope < door.Write {
				l.Params = live.OfferOnce(l.Params)
			}
			if w.veils() {
				l.Params = w.Redact.JSON(l.Params)
			}
			w.reply(string(w.id), rpcMessage{ID: permissionID(l.Ask, w.id), Method: "session/request_permission", Params: l.Params})
		}
	case l.Decided != "":
		w.mu.Lock()
		mine := w.mine[l.Decided]
		delete(w.mine, l.Decided)
		w.mu.Unlock()
		if !mine && w.v.Scope >= door.Answer {
			w.reply(string(w.id), rpcMessage{Method: "$/cancel_request", Params: skein.MustJSON(map[string]any{
				"requestId": permissionID(l.Decided, w.id), "_meta": map[string]any{"skein": l.Decision},
			})})
		}
	case l.Turn != "":
		w.turnEnded(l)
	}
}

// params sends the params of an update of the hub's.
func (w *watching) params(at updateCursor, params json.RawMessage) {
	w.at = at
	var p map[string]json.RawMessage
	if json.Unmarshal(params, &p) != nil {
		return
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(p["_meta"], &meta) != nil || meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta["skein"] = skein.MustJSON(map[string]any{"cursor": at.String()})
	p["_meta"] = skein.MustJSON(meta)
	w.reply(string(w.id), rpcMessage{Method: "session/update", Params: skein.MustJSON(p)})
}

// answering notes whether this client's answer to a permission is the one that counts.
func (w *watching) answering(name string, so bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mine[name] = true; !so {
		delete(w.mine, name)
	}
}

// ask makes a request of the hub.
//
// The error wraps [live.ErrAnswered], or [skein.ErrNotFound] if the session is not live.
func (w *watching) ask(ctx context.Context, what live.Wish) (json.RawMessage, error) {
	w.mu.Lock()
	hub := w.hub
	w.mu.Unlock()
	if hub == nil {
		return nil, w.notLive(ctx)
	}
	return hub.Ask(ctx, what)
}

// notLive says why nothing can be asked of a session.
func (w *watching) notLive(ctx context.Context) error {
	_, err := w.hubs.Attach(ctx, w.id, live.Attach{})
	if err == nil {
		err = fmt.Errorf("session %s has just been opened: %w: try again", w.id, skein.ErrNotFound)
	}
	return err
}

// prompt sends a prompt, and answers the request for it when its turn ends. It has been
// stored when prompt returns.
func (w *watching) prompt(ctx context.Context, blocks, id json.RawMessage) error {
	result, err := w.ask(ctx, live.Wish{Prompt: blocks})
	if err != nil {
		return err
	}
	var r struct{ Turn string }
	if err := json.Unmarshal(result, &r); err != nil {
		return err
	}
	w.mu.Lock()
	w.turns[r.Turn] = id
	l, ended := w.ended[r.Turn]
	delete(w.ended, r.Turn)
	w.mu.Unlock()
	if ended {
		w.turnEnded(l)
	}
	return nil
}

// turnEnded answers the prompt of a turn that has ended.
func (w *watching) turnEnded(l live.Line) {
	w.mu.Lock()
	id, known := w.turns[l.Turn]
	if delete(w.turns, l.Turn); !known {
		w.ended[l.Turn] = l
	}
	w.mu.Unlock()
	switch {
	case !known || id == nil:
	case l.Error != "":
		w.fail(string(w.id), id, errors.New(l.Error))
	default:
		w.reply(string(w.id), rpcMessage{ID: id, Result: l.Result})
	}
}
