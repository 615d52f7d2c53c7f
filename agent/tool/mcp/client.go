package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client speaks with one server.
type client struct {
	server  Server
	options Options

	mu     sync.Mutex
	now    *connection // current connection; nil if there is none
	closed bool

	watch    sync.Mutex
	watchers map[string]func(string) // functions that receive progress, by token
	tokens   int
}

// A connection is a connection to a server that answers.
type connection struct {
	session *sdk.ClientSession
	gone    chan struct{} // closed when the connection is over
	end     func() error  // stops what was started for it
}

var errClosed = errors.New("the session was closed")

// connect returns the current connection, or a new one if it is broken.
func (c *client) connect(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.now != nil {
		select {
		case <-c.now.gone:
			_ = c.now.end() // that it was lost is known
			c.now = nil
		default:
			return c.now, nil
		}
	}
	if err := c.server.check(); err != nil {
		return nil, err
	}
	limited, stop := context.WithTimeoutCause(ctx, c.options.Connect, fmt.Errorf("no answer within %v", c.options.Connect))
	defer stop()
	now, err := c.open(limited)
	if err != nil {
		if cause := context.Cause(limited); cause != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w (%w)", cause, err)
		}
		return nil, err
	}
	c.now = now
	return now, nil
}

func (c *client) open(ctx context.Context) (*connection, error) {
	if c.server.URL != "" {
		return c.dial(ctx)
	}
	return c.start(ctx)
}

// protocol is the protocol version used with programs: one that servers from
// before 2026 understand, because they may not answer a request for a newer
// one.
const protocol = "2025-11-25"

// session starts an MCP session over t.
func (c *client) session(ctx context.Context, t sdk.Transport, o *sdk.ClientSessionOptions) (*connection, error) {
	me := sdk.NewClient(&sdk.Implementation{Name: c.options.Program, Version: c.options.Version}, &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{},
		ProgressNotificationHandler: c.progress,
	})
	s, err := me.Connect(ctx, t, o)
	if err != nil {
		return nil, err
	}
	now := &connection{session: s, gone: make(chan struct{}), end: s.Close}
	go func() {
		_ = s.Wait() // the call that meets the end reports the reason
		close(now.gone)
	}()
	return now, nil
}

// drop ends a broken connection, so that the next call makes a new one.
func (c *client) drop(broken *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == broken {
		_ = c.now.end() // that it broke is known
		c.now = nil
	}
}

func (c *client) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.now == nil {
		return nil
	}
	err := c.now.end()
	<-c.now.gone
	c.now = nil
	if err != nil {
		return fmt.Errorf("mcp server %s: %w", c.server.Name, err)
	}
	return nil
}

// watching has f receive progress under the returned token, until stop is
// called.
func (c *client) watching(f func(string)) (token string, stop func()) {
	c.watch.Lock()
	defer c.watch.Unlock()
	c.tokens++
	token = fmt.Sprintf("call-%d", c.tokens)
	c.watchers[token] = f
	return token, func() {
		c.watch.Lock()
		defer c.watch.Unlock()
		delete(c.watchers, token)
	}
}

// progress passes progress on to its watcher.
func (c *client) progress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	c.watch.Lock()
	defer c.watch.Unlock()
	if f := c.watchers[fmt.Sprint(r.Params.ProgressToken)]; f != nil && r.Params.Message != "" {
		f(r.Params.Message + "\n")
	}
}
