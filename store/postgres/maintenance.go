package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/wire"
)

const (
	choresFirst = 2 * time.Second // after a store was opened
	choresEvery = time.Minute
)

// maintenance is the background work of a store: it empties the purge queue, and
// finishes scrubs that a process that died, or a call whose ctx ended, left undone.
type maintenance struct {
	all  lifecycle
	wake chan struct{}
	done chan struct{}
}

func newMaintenance(c *core) *maintenance {
	return &maintenance{all: lifecycle{&view{core: c}}, wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// soon wakes maintenance now.
func (c *maintenance) soon() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// loop runs until the store is closed: after first, then from time to time, and when
// it is woken.
func (c *maintenance) loop(first time.Duration) {
	defer close(c.done)
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-c.all.life.Done():
			return
		case <-c.wake:
		case <-timer.C:
		}
		_ = c.all.maintain(c.all.life) //nolint:errcheck // the next run tries again
		timer.Reset(choresEvery)
	}
}

// maintain does the maintenance that is due. An error in one kind of work does not
// stop the others.
func (s lifecycle) maintain(ctx context.Context) (err error) {
	for _, do := range []func(context.Context) (bool, error){s.drain, s.resumeScrub} {
		for more := true; more; {
			var failed error
			if more, failed = do(ctx); failed != nil {
				err = errors.Join(err, failed)
				break
			}
		}
	}
	return err
}

// How much one step removes.
const (
	stepRows   = 500
	stepBytes  = 1 << 20
	stepBlocks = 20
)

// drain removes one step's worth of what is in the purge queue of the view's users,
// and reports whether there is more to do.
func (s lifecycle) drain(ctx context.Context) (more bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		var user string
		var n int64
		var above skein.Seq
		// Skip what another process is working on.
		found, err := t.One(`SELECT d.user_id, d.n, d.above FROM purge_queue d ORDER BY d.user_id, d.n LIMIT 1 FOR UPDATE SKIP LOCKED`, nil, &user, &n, &above)
		switch {
		case err != nil:
			return err
		case found:
			more = true
			return t.drainEvents(user, n, above)
		}
		more, err = t.drainFiles()
		return err
	})
	return more, err
}

// drainEvents removes the newest events of session number n, only those after above.
// When none are left, it takes n out of the purge queue.
func (t *tx) drainEvents(user string, n int64, above skein.Seq) error {
	from, rows, size := above, 0, 0
	err := t.Query(`SELECT e.seq, octet_length(e.payload) FROM events e WHERE e.user_id = $1 AND e.n = $2 AND e.seq > $3 ORDER BY e.seq DESC LIMIT $4`,
		[]any{user, n, int64(above), stepRows}, func(r wire.Row) error {
			var seq skein.Seq
			var bytes int
			if err := r.Scan(&seq, &bytes); err != nil {
				return err
			}
			if size += bytes; size > stepBytes && rows > 0 {
				return wire.ErrStop
			}
			rows++
			from = seq - 1
			return nil
		})
	if err := wire.Unstop(err); err != nil {
		return err
	}
	if rows == 0 {
		p := t.pipe()
		p.Exec(`DELETE FROM journal WHERE user_id = $1 AND n = $2 AND after >= $3`, user, n, int64(above))
		p.Exec(`UPDATE journal SET upto = $3 WHERE user_id = $1 AND n = $2 AND upto > $3`, user, n, int64(above))
		p.Exec(`DELETE FROM purge_queue WHERE user_id = $1 AND n = $2`, user, n)
		return p.Run()
	}
	return t.destroy(user, n, from)
}

// destroy deletes the events of n after from, and all rows that depend on them.
func (t *tx) destroy(user string, n int64, from skein.Seq) error {
	var hashes [][]byte
	at := []any{user, n, int64(from)}
	if err := t.lockIndex(); err != nil {
		return err
	}
	p := t.pipe()
	p.Exec(`DELETE FROM found WHERE user_id = $1 AND n = $2 AND seq > $3`, at...)
	p.Exec(`DELETE FROM charges WHERE user_id = $1 AND n = $2 AND seq > $3`, at...)
	p.Exec(`DELETE FROM events WHERE user_id = $1 AND n = $2 AND seq > $3`, at...)
	p.Query(`WITH gone AS (DELETE FROM blob_refs WHERE user_id = $1 AND n = $2 AND seq > $3 RETURNING hash) SELECT DISTINCT hash FROM gone ORDER BY hash`, at, func(r wire.Row) error {
		var h []byte
		err := r.Scan(&h)
		hashes = append(hashes, h)
		return err
	})
	if err := p.Run(); err != nil {
		return err
	}
	return t.dropBlobs(user, hashes)
}

// dropBlobs deletes those of the blobs that nothing refers to. The first statement
// waits for transactions that are about to refer to one; the second sees what they
// did.
func (t *tx) dropBlobs(user string, hashes [][]byte) error {
	if len(hashes) == 0 {
		return nil
	}
	p := t.pipe()
	p.Exec(`SELECT hash FROM blobs WHERE user_id = $1 AND hash = ANY ($2) ORDER BY hash FOR UPDATE`, user, hashes)
	p.Exec(`DELETE FROM blobs b WHERE b.user_id = $1 AND b.hash = ANY ($2) AND NOT EXISTS (SELECT FROM blob_refs r WHERE r.user_id = $1 AND r.hash = b.hash)`, user, hashes)
	return p.Run()
}

// drainFiles removes deleted source files and their records, one step at a time.
func (t *tx) drainFiles() (more bool, err error) {
	var user string
	var n int64
	more, err = t.One(`SELECT f.user_id, f.n FROM files f WHERE f.format = '' ORDER BY f.user_id, f.n LIMIT 1 FOR UPDATE SKIP LOCKED`, nil, &user, &n)
	if err != nil || !more {
		return false, err
	}
	rows, err := t.Exec(`DELETE FROM records WHERE user_id = $1 AND file = $2 AND number IN
		(SELECT r.number FROM records r WHERE r.user_id = $1 AND r.file = $2 ORDER BY r.number LIMIT $3)`, user, n, stepBlocks)
	if err == nil && rows < stepBlocks {
		_, err = t.Exec(`DELETE FROM files WHERE user_id = $1 AND n = $2`, user, n)
	}
	return true, err
}
