package postgres

import (
	"github.com/skein-dev/skein"
)

// Close implements [skein.Store]. On a view it does nothing.
func (s *Store) Close() error {
	if s.part {
		return nil
	}
	s.mu.Lock()
	first := !s.closed
	if first {
		s.closed = true
		close(s.ending)
		s.stop()
	}
	s.mu.Unlock()
	if first {
		s.calls.Wait()
		s.end()
		close(s.gone)
	}
	<-s.gone
	return nil
}

// end releases everything; no call is under way.
func (c *core) end() {
	c.keeper.close()
	c.finish()
	c.pool.Close()
	c.pack.close()
}

// enter admits a call, unless the store is closed. A call that was admitted must
// call leave.
func (c *core) enter() (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, skein.ErrClosed
	}
	c.calls.Add(1)
	return c.calls.Done, nil
}

// enter is the core's enter, but calls from within an admitted call always succeed,
// so that it can finish while the store is being closed.
func (s *view) enter() (leave func(), err error) {
	if s.in {
		return func() {}, nil
	}
	return s.core.enter()
}

// inside returns the view for an admitted call to use.
func (s *view) inside() *view { return &view{core: s.core, user: s.user, part: true, in: true} }
