package own

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/stored"
)

// A session is one that is open.
type session struct {
	editorView
	thread Thread
	guests *sessionGuests

	choosing sync.Mutex
	choices  []SessionOption // as the editor knows them
}

// session returns the session with this ID, nil if it is not open.
func (c *editorLink) session(id skein.SessionID) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sessions[id]
}

// open opens a session, or begins one, and returns the answer to session/new.
func (c *editorLink) open(ctx context.Context, p *requestParams, o Opening) (any, func(), error) {
	s, err := c.opened(ctx, p, o)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.settings(ctx)
	if err != nil {
		return nil, nil, err
	}
	r["sessionId"] = s.id
	return r, s.offer, nil
}

// opened opens a session.
func (c *editorLink) opened(ctx context.Context, p *requestParams, o Opening) (_ *session, err error) {
	c.mu.Lock()
	can := c.client
	c.mu.Unlock()
	s := &session{editorView: editorView{c: c, calls: map[string]*shownCall{}}}
	if o.ForkAt == 0 {
		s.id = o.Session
	}
	if o.Cwd, err = folderOf(p); err != nil {
		return nil, err
	}
	if o.Session == "" && o.Cwd == "" {
		return nil, &codedError{stored.InvalidParams, "cwd: missing"}
	}
	if o.Servers, err = serversOf(p.McpServers); err != nil {
		return nil, err
	}
	if can.reads || can.writes {
		o.Editor = editorFiles{s, can}
	}
	o.TakeOver, o.Observe, o.Ask, o.Tell = p.Meta.Skein.TakeOver, s.observe, s.ask, func(text string) { s.note("info", text) }
	// The thread outlives the request.
	if s.thread, err = c.o.Open(context.WithoutCancel(ctx), o); err != nil {
		return nil, locked(err)
	}
	s.id = s.thread.ID()
	stored, err := c.o.Store.Session(ctx, s.id)
	if err != nil {
		return nil, errors.Join(err, s.thread.End(ctx, "error"))
	}
	s.cwd, s.title = stored.Cwd, skein.ShortTitle(stored.Name())
	s.letIn(stored.Last)
	if o.Session != "" && o.ForkAt == 0 {
		if err := s.guests.tellUnsent(ctx); err != nil {
			s.live.Close()
			return nil, errors.Join(err, s.thread.End(ctx, "error"))
		}
	}
	c.mu.Lock()
	c.sessions[s.id] = s
	c.mu.Unlock()
	return s, nil
}

// locked says what to do about a session that another program works on.
func locked(err error) error {
	if errors.Is(err, skein.ErrLocked) {
		return &codedError{stored.Internal, err.Error() + "; close it there, or load it with _meta.skein.takeOver"}
	}
	return err
}

// existing returns the session that a request names, and opens it if it is not open.
func (c *editorLink) existing(ctx context.Context, p *requestParams) (*session, error) {
	id := skein.SessionID(p.SessionID)
	if s := c.session(id); s != nil {
		return s, nil
	}
	if _, err := c.catalog().Session(ctx, id); err != nil {
		return nil, err
	}
	return c.opened(ctx, p, Opening{Session: id})
}

// load opens a session and shows it from its beginning.
func (c *editorLink) load(ctx context.Context, p *requestParams) (any, func(), error) {
	s, err := c.existing(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	for u, err := range stored.Replay(ctx, c.o.Store, s.id) {
		if err != nil {
			return nil, nil, err
		}
		c.write(stored.Update(s.id, u))
	}
	r, err := s.settings(ctx)
	return r, s.offer, err
}

// resume opens a session.
func (c *editorLink) resume(ctx context.Context, p *requestParams) (any, func(), error) {
	s, err := c.existing(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.settings(ctx)
	return r, s.offer, err
}

// fork begins a session that shows another one, up to a message if the request names one.
func (c *editorLink) fork(ctx context.Context, p *requestParams) (any, func(), error) {
	from, err := c.catalog().Session(ctx, skein.SessionID(p.SessionID))
	if err != nil {
		return nil, nil, err
	}
	at, _ := p.ForkAt(&from)
	return c.open(ctx, p, Opening{Session: from.ID, ForkAt: at})
}

// end ends the work on a session, if it is open.
func (c *editorLink) end(id skein.SessionID, how string) error {
	c.mu.Lock()
	s := c.sessions[id]
	delete(c.sessions, id)
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	s.live.Close()
	return s.thread.End(context.WithoutCancel(c.ctx), how)
}

// endAll ends the work on all sessions.
func (c *editorLink) endAll(how string) (err error) {
	c.mu.Lock()
	all := c.sessions
	c.sessions = map[skein.SessionID]*session{}
	c.mu.Unlock()
	for _, s := range all {
		err = errors.Join(err, s.thread.End(context.WithoutCancel(c.ctx), how))
	}
	return err
}

// closeHubs lets nobody attach any more. Those who are attached read what is stored next.
func closeHubs(c *editorLink) {
	c.mu.Lock()
	all := slices.Collect(maps.Values(c.sessions))
	c.mu.Unlock()
	for _, s := range all {
		s.live.Close()
	}
}
