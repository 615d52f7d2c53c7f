package engine

import (
	"context"
	"errors"
	"sync"
)

// A Pool is a set of connections that only read.
type Pool struct {
	check func() error // returns an error if the file may not be read
	open  func() (*Conn, error)
	slots chan struct{}

	mu   sync.Mutex
	free []*Conn
	age  int // how often the pool was renewed
}

// NewPool returns a pool of at most size connections, which open opens. Before each
// read, check returns an error if the file may not be read.
func NewPool(size int, check func() error, open func() (*Conn, error)) *Pool {
	return &Pool{check: check, open: open, slots: make(chan struct{}, size)}
}

// Read runs f with a connection that reads one state of the file throughout.
// The end of ctx interrupts the running statement. The error is that of [Pool.Open],
// f's, or one that [ReadError] returns.
func (p *Pool) Read(ctx context.Context, f func(*Conn) error) (err error) {
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if c.good() {
			err = errors.Join(err, p.put(c))
			return
		}
		err = errors.Join(err, c.Close())
		<-p.slots
	}()
	// Not with ctx: if that ends at this moment, the driver says that BEGIN failed
	// although it did not, and the connection could never begin again.
	if _, _, err := c.Exec("BEGIN"); err != nil {
		return ReadError(ctx, err)
	}
	err = c.Until(ctx, func() error { return f(c) })
	if _, _, end := c.Exec("COMMIT"); end != nil {
		_, _, rerr := c.Exec("ROLLBACK")
		if err == nil { // otherwise its outcome does not matter
			err = end
		}
		if rerr != nil && Code(rerr) != CodeError {
			err = errors.Join(err, rerr)
		}
	}
	return ReadError(ctx, err)
}

// ReadError returns the error of ctx if SQLite was interrupted because the
// caller gave up; other errors as [Classify] does.
func ReadError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && Code(err)&0xff == codeInterrupt {
		return ctx.Err()
	}
	return Classify(err)
}

func (p *Pool) take(ctx context.Context) (*Conn, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		c := p.free[n-1]
		p.free = p.free[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.Open()
	if err != nil {
		<-p.slots
	}
	return c, err
}

// Open opens a connection outside of the pool, for [Pool.Stale]. The error is that of
// the function that opens connections.
func (p *Pool) Open() (*Conn, error) {
	p.mu.Lock()
	age := p.age
	p.mu.Unlock()
	c, err := p.open()
	if err == nil {
		c.age = age
	}
	return c, err
}

// Stale reports whether the pool was renewed since c was opened.
func (p *Pool) Stale(c *Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.age != p.age
}

func (p *Pool) put(c *Conn) (err error) {
	p.mu.Lock()
	if c.age == p.age {
		p.free = append(p.free, c)
	} else {
		err = c.Close()
	}
	p.mu.Unlock()
	<-p.slots
	return err
}

// Close closes all connections; none may be in use. The error is the driver's.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, c := range p.free {
		errs = append(errs, c.Close())
	}
	p.free = nil
	return errors.Join(errs...)
}

// Renew closes the connections; those in use are closed when they are returned.
// In them, full-text search remembers the content that the file had before it
// was replaced, and they read the file in the mode that was possible before. The error is
// the driver's.
func (p *Pool) Renew() error {
	p.mu.Lock()
	free := p.free
	p.free = nil
	p.age++
	p.mu.Unlock()
	var errs []error
	for _, c := range free {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
