package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// answeredFirst is a transport that reports the end of input only after each
// request has been answered: at the end, the SDK cancels running requests, and
// a script that writes its requests and closes the pipe would get no answers.
type answeredFirst struct{ sdk.Transport }

// Connect implements [sdk.Transport]; errors are those of the transport.
func (t answeredFirst) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &answering{Connection: c, asked: map[jsonrpc.ID]bool{}, done: make(chan struct{})}, nil
}

// answering is a connection of [answeredFirst].
type answering struct {
	sdk.Connection
	mu     sync.Mutex
	asked  map[jsonrpc.ID]bool // requests without an answer; of two with one ID, the SDK answers one
	ended  bool                // nothing more will be read
	closed bool                // done is closed
	done   chan struct{}       // closed when the input has ended and all is answered, or on Close
}

// Read implements [sdk.Connection]; errors are the connection's.
func (c *answering) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.change(func() { c.ended = true })
		select {
		case <-c.done:
		case <-ctx.Done():
		}
		return nil, err
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.change(func() { c.asked[r.ID] = true })
	}
	return m, nil
}

// Write implements [sdk.Connection]; errors are the connection's.
func (c *answering) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if r, ok := m.(*jsonrpc.Response); ok {
		c.change(func() { delete(c.asked, r.ID) }) // even after an error: no other answer will come
	}
	return err
}

// Close implements [sdk.Connection]; errors are the connection's.
func (c *answering) Close() error {
	c.change(func() { c.ended = true; clear(c.asked) })
	return c.Connection.Close()
}

// change calls f, and then closes done if there is nothing left to wait for.
func (c *answering) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	if c.ended && len(c.asked) == 0 && !c.closed {
		c.closed = true
		close(c.done)
	}
}
