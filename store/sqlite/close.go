package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// Close implements [skein.Store]. On a view it does nothing.
func (s *Store) Close() (err error) {
	if s.isView {
		return nil
	}
	s.mu.Lock()
	first := !s.closed
	if first {
		s.closed = true
		close(s.ending)
	}
	s.mu.Unlock()
	if first {
		s.calls.Wait()
		s.err = s.end()
		close(s.gone)
	}
	<-s.gone
	err = s.err
	skein.Wrapf(&err, "sqlite: close %s", s.path)
	return err
}

// abandon releases what a failed Open had acquired.
func (c *core) abandon() error {
	c.pack.Close()
	if c.writer == nil {
		return nil
	}
	c.writer.Stop()
	return errors.Join(c.readers.Close(), c.paths.Release(), c.writer.Close())
}

// closeFor is how long a store that is being closed waits for others that use
// the file, for work that the next start can do as well.
const closeFor = 5 * time.Second

// closeStuck replaces closeFor if a write has already waited for others in
// vain, or if nothing was written.
const closeStuck = 200 * time.Millisecond

// end releases everything. No call may be in progress.
func (c *core) end() error {
	c.catching.Wait()
	var errs []error
	if c.writer != nil {
		c.maintenance.close()
		c.index.close()
		most := c.closeFor
		if c.writer.IsStuck() {
			most = closeStuck
		}
		ctx, cancel := context.WithTimeout(context.Background(), most)
		defer cancel()
		if err := c.releaseAll(ctx); !errors.Is(err, context.DeadlineExceeded) {
			errs = append(errs, err)
		}
		c.finish(ctx)
		c.writer.Stop()
	}
	if c.paths.SameStore() != nil {
		// Closing the last connection would checkpoint the log into the file
		// that was copied there, and destroy that file. The end of the process
		// closes it without a checkpoint.
		c.pack.Close()
		return c.paths.SameStore()
	}
	errs = append(errs, c.readers.Close())
	if c.writer != nil {
		errs = append(errs, c.paths.Release(), c.writer.Close()) // the last connection removes the -wal file
		c.paths.DropPair()
	}
	c.pack.Close()
	return errors.Join(errs...)
}

// finish does the work that nobody waits for, as far as time allows; the next
// start continues it. A store that has only read does none of it while another
// process writes.
func (c *core) finish(ctx context.Context) {
	defer c.disk.keepReserve()
	if !c.behind(ctx, ofWords()) && !c.behind(ctx, ofEdits()) && !c.maintenance.waiting(ctx) {
		return
	}
	if !c.index.fed() && !c.maintenance.deleted.Load() {
		short, cancel := context.WithTimeout(ctx, closeStuck)
		defer cancel()
		if c.write(short, func(*txn.Tx) error { return nil }) != nil {
			return
		}
	}
	_ = c.indexAll(ctx)         //nolint:errcheck // see above
	_ = c.maintenance.tidy(ctx) //nolint:errcheck // see above
}

// enter admits a call, unless the store is closed. A call that was admitted
// must call leave.
func (c *closing) enter() (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, skein.ErrClosed
	}
	c.calls.Add(1)
	return c.calls.Done, nil
}
