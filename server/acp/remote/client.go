package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/door"
)

// An acpClient is one connection, however it came.
type acpClient struct {
	*acpService
	ctx  context.Context //nolint:containedctx // it ends with the connection
	stop func()
	send func(session string, line []byte) error // waits until the client takes it

	mu      sync.Mutex
	open    map[skein.SessionID]*watching
	working sync.WaitGroup
	serving chan struct{} // has an element for each request that is served
}

func newClient(ctx context.Context, s *acpService, send func(string, []byte) error) *acpClient {
	return &acpClient{acpService: s, ctx: ctx, send: send, open: map[skein.SessionID]*watching{}, serving: make(chan struct{}, 16)}
}

// wait waits until nothing is done for the client any more.
func (c *acpClient) wait() { c.working.Wait() }

// about is the answer to initialize.
func (s *acpService) about() json.RawMessage {
	return skein.MustJSON(map[string]any{
		"protocolVersion": 1,
		"agentInfo":       map[string]any{"name": "skein", "title": "skein", "version": s.Version},
		"agentCapabilities": map[string]any{
			"loadSession":         true,
			"promptCapabilities":  map[string]any{"image": true, "audio": true, "embeddedContext": true},
			"sessionCapabilities": map[string]any{"list": struct{}{}, "resume": struct{}{}, "close": struct{}{}},
		},
		"authMethods": []any{},
	})
}

// line takes a line of a client that cannot be refused otherwise than by a line.
func (c *acpClient) line(v door.Visitor, b []byte) {
	m, err := messageOf(b)
	if err != nil {
		c.reply("", rpcMessage{ID: json.RawMessage("null"), Error: &rpcFailure{parseError, err.Error()}})
		return
	}
	if m.Method == "" {
		c.working.Go(func() {
			if err := c.answered(c.ctx, v, m); err != nil {
				c.notice(m.ID, err)
			}
		})
		return
	}
	if err := c.take(v, m); err != nil {
		c.fail("", m.ID, err)
	}
}

// reply sends a message in a stream. If the client does not take it, it has gone.
func (c *acpClient) reply(session string, m rpcMessage) {
	m.JSONRPC = "2.0"
	if c.send(session, skein.MustJSON(m)) != nil {
		c.stop()
	}
}

func (c *acpClient) fail(session string, id json.RawMessage, err error) {
	code := stored.Code(err)
	if f := (*scopeError)(nil); errors.As(err, &f) {
		code = forbidden
	}
	if errors.Is(err, errNoMethod) {
		code = noMethod
	}
	if id != nil {
		c.reply(session, rpcMessage{ID: id, Error: &rpcFailure{code, "skein: " + err.Error()}})
	}
}

// notice tells a client why its answer was not taken.
func (c *acpClient) notice(id json.RawMessage, err error) {
	_, session := permissionOf(id)
	u := stored.SessionNotice{Severity: "warning", Title: err.Error(), Shown: true}.Update()
	c.reply(session, rpcMessage{Method: "session/update", Params: skein.MustJSON(map[string]any{"sessionId": session, "update": u})})
}

// A scopeError says that a token may not do something.
type scopeError struct {
	token string
	has   door.Scope
	needs door.Scope
}

// Error implements error.
func (e *scopeError) Error() string {
	return fmt.Sprintf("the token %q may only %s; this needs %s", e.token, e.has, e.needs)
}

func may(v door.Visitor, needs door.Scope) error {
	if v.Scope < needs {
		return &scopeError{v.Token, v.Scope, needs}
	}
	return nil
}

// A request is the params of a request.
type request struct {
	stored.Request
	Prompt json.RawMessage `json:"prompt"`
	Meta   struct {
		Skein struct {
			After string `json:"after"` // a cursor
		} `json:"skein"`
	} `json:"_meta"`
}

var errNoMethod = errors.New("there is no such method here")

// take does what a client asks for, and answers in a stream. What is refused at once is
// the error.
func (c *acpClient) take(v door.Visitor, m rpcMessage) error {
	var r request
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &r); err != nil {
			return fmt.Errorf("params: %w: %w", skein.ErrInvalid, err)
		}
	}
	ctx := context.WithoutCancel(c.ctx)
	switch m.Method {
	case "initialize":
		c.reply("", rpcMessage{ID: m.ID, Result: c.about()})
	case "authenticate":
		c.reply("", rpcMessage{ID: m.ID, Result: json.RawMessage("{}")})
	case "session/list":
		c.do(m.ID, func() (any, error) { return c.list(v, &r) })
	case "session/load", "session/resume":
		c.do(m.ID, func() (any, error) { return c.load(v, &r, m.Method == "session/load") })
	case "session/close":
		c.detach(skein.SessionID(r.SessionID))
		c.reply("", rpcMessage{ID: m.ID, Result: json.RawMessage("{}")})
	case "session/prompt":
		if err := may(v, door.Write); err != nil {
			return err
		}
		return c.prompt(ctx, &r, m.ID)
	case "session/cancel":
		if err := may(v, door.Write); err != nil {
			return err
		}
		_, err := c.ask(ctx, r.SessionID, live.Wish{Cancel: true})
		return err
	default:
		if m.ID != nil {
			return fmt.Errorf("%s: %w: a session is begun in an editor; here it can be listed, loaded, answered and prompted", m.Method, errNoMethod)
		}
	}
	return nil
}

// do answers a request in the background.
func (c *acpClient) do(id json.RawMessage, f func() (any, error)) {
	select {
	case c.serving <- struct{}{}:
	case <-c.ctx.Done():
		return
	}
	c.working.Go(func() {
		defer func() { <-c.serving }()
		result, err := f()
		if err != nil {
			c.fail("", id, err)
			return
		}
		c.reply("", rpcMessage{ID: id, Result: skein.MustJSON(result)})
	})
}

func (c *acpClient) list(v door.Visitor, r *request) (any, error) {
	catalog := &stored.Catalog{Store: v.Store, User: v.User, Checkout: c.Checkout, Dir: "/"}
	page, err := catalog.List(c.ctx, &r.Request, "")
	if c.Redact != nil && !v.Raw {
		for i := range page.Sessions {
			page.Sessions[i].Title = c.Redact.Text(page.Sessions[i].Title)
		}
	}
	return page, err
}

// prompt sends a prompt. It has been stored when prompt returns.
func (c *acpClient) prompt(ctx context.Context, r *request, id json.RawMessage) error {
	w, err := c.attached(r.SessionID)
	if err != nil {
		return err
	}
	if len(r.Prompt) == 0 || r.Prompt[0] != '[' {
		return fmt.Errorf("prompt: %w: want an array of content blocks", skein.ErrInvalid)
	}
	return w.prompt(ctx, r.Prompt, id)
}

// ask makes a request of a session's hub.
func (c *acpClient) ask(ctx context.Context, session string, what live.Wish) (json.RawMessage, error) {
	w, err := c.attached(session)
	if err != nil {
		return nil, err
	}
	return w.ask(ctx, what)
}

// attached returns a session that the client has loaded.
func (c *acpClient) attached(session string) (*watching, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.open[skein.SessionID(session)]; w != nil {
		return w, nil
	}
	return nil, fmt.Errorf("session %q: %w: it is not loaded in this connection", session, skein.ErrNotFound)
}

// permissionID returns the ID of the request for a permission.
func permissionID(name string, session skein.SessionID) json.RawMessage {
	return skein.MustJSON(name + "@" + string(session))
}

// permissionOf is the inverse of permissionID.
func permissionOf(id json.RawMessage) (name, session string) {
	var s string
	_ = json.Unmarshal(id, &s) // else it is none of ours
	name, session, _ = strings.Cut(s, "@")
	return name, session
}

// answered takes the answer to a request for a permission.
//
// The error wraps [live.ErrAnswered] if somebody else was faster.
func (c *acpClient) answered(ctx context.Context, v door.Visitor, m rpcMessage) error {
	name, session := permissionOf(m.ID)
	if session == "" {
		return fmt.Errorf("id %s: %w: nothing was asked under it", m.ID, skein.ErrInvalid)
	}
	if err := may(v, door.Answer); err != nil {
		return err
	}
	result := m.Result
	if m.Error != nil || len(result) == 0 {
		result = json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`)
	}
	w, err := c.attached(session)
	if err != nil {
		return err
	}
	w.answering(name, true)
	if _, err = w.ask(ctx, live.Wish{Answer: name, Result: result, Once: v.Scope < door.Write}); err != nil {
		w.answering(name, false)
	}
	return err
}

// detach ends the watch of a session.
func (c *acpClient) detach(id skein.SessionID) {
	c.mu.Lock()
	w := c.open[id]
	delete(c.open, id)
	c.mu.Unlock()
	if w != nil {
		w.cancel()
	}
}
