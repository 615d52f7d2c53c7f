package sqlite

import (
	"context"
	"errors"
	"sync"
)

// A pool is a set of connections that only read.
type pool struct {
	check func() error // returns an error if the file may not be read
	open  func() (*conn, error)
	slots chan struct{}

	mu   sync.Mutex
	free []*conn
	age  int // how often the pool was renewed
}

func newPool(size int, check func() error, open func() (*conn, error)) *pool {
	return &pool{check: check, open: open, slots: make(chan struct{}, size)}
}

// with runs f with a connection that reads one state of the file throughout.
// The end of ctx interrupts the running statement.
func (p *pool) with(ctx context.Context, f func(*conn) error) (err error) {
	c, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer func() {
		c.ctx = context.Background()
		if c.good() {
			err = errors.Join(err, p.put(c))
			return
		}
		err = errors.Join(err, c.close())
		<-p.slots
	}()
	// Not with ctx: if that ends at this moment, the driver says that BEGIN failed
	// although it did not, and the connection could never begin again.
	if _, _, err := c.exec("BEGIN"); err != nil {
		return readError(ctx, err)
	}
	c.ctx = ctx
	err = f(c)
	c.ctx = context.Background()
	if _, _, end := c.exec("COMMIT"); end != nil {
		_, _, rerr := c.exec("ROLLBACK")
		if err == nil { // otherwise its outcome does not matter
			err = end
		}
		if rerr != nil && resultCode(rerr) != codeError {
			err = errors.Join(err, rerr)
		}
	}
	return readError(ctx, err)
}

// readError returns the error of ctx if SQLite was interrupted because the
// caller gave up.
func readError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && resultCode(err)&0xff == codeInterrupt {
		return ctx.Err()
	}
	return classify(err)
}

func (p *pool) take(ctx context.Context) (*conn, error) {
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
	c, err := p.fresh()
	if err != nil {
		<-p.slots
	}
	return c, err
}

// fresh opens a connection that records the pool's age.
func (p *pool) fresh() (*conn, error) {
	p.mu.Lock()
	age := p.age
	p.mu.Unlock()
	c, err := p.open()
	if err == nil {
		c.age = age
	}
	return c, err
}

// stale reports whether the pool was renewed since c was opened.
func (p *pool) stale(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.age != p.age
}

func (p *pool) put(c *conn) (err error) {
	p.mu.Lock()
	if c.age == p.age {
		p.free = append(p.free, c)
	} else {
		err = c.close()
	}
	p.mu.Unlock()
	<-p.slots
	return err
}

// close closes all connections; none may be in use.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, c := range p.free {
		errs = append(errs, c.close())
	}
	p.free = nil
	return errors.Join(errs...)
}

// renew closes the connections; those in use are closed when they are returned.
// In them, full-text search remembers the content that the file had before it
// was replaced, and they read the file in the mode that was possible before.
func (p *pool) renew() error {
	p.mu.Lock()
	free := p.free
	p.free = nil
	p.age++
	p.mu.Unlock()
	var errs []error
	for _, c := range free {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}
