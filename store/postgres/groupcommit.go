package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/sqlstate"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// How many transactions of usual appends this process runs at once, and the most
// that one of them writes.
const (
	maxLanes   = 8
	maxParcels = 32
	laneBytes  = 1 << 20
)

// A groupWrite is what appends to one session will write with one statement.
type groupWrite struct {
	ctx    context.Context
	s      *view // the one that appends
	w      *work
	d      *sessionDraft
	forgot int       // heads.times when d was read
	turn   chan bool // true: it has its answer; false: it is to lead the waiting ones

	moved bool // it was written
	err   error
}

// A groupCommit lets group writes share transactions. A write that arrives while a
// transaction may start leads one at once; later ones wait and share a transaction:
// one commit for all of them.
type groupCommit struct {
	mu      sync.Mutex
	free    int
	waiting []*groupWrite
}

func newGroupCommit(connections int32) *groupCommit {
	return &groupCommit{free: max(1, min(maxLanes, int(connections)/2))}
}

// send writes p, and reports whether it was written: it is not if the session is not
// in the expected state, or other transactions are in the way. Once p is sent, ctx
// has no effect.
func (s appends) send(p *groupWrite) (moved bool, err error) {
	if !s.lanes.enter(p) {
		select {
		case done := <-p.turn:
			if done {
				return p.moved, p.err
			}
		case <-p.ctx.Done():
			if s.lanes.quit(p) {
				return false, p.ctx.Err()
			}
			if done := <-p.turn; done { // p is being written
				return p.moved, p.err
			}
		}
	}
	s.lead(p)
	return p.moved, p.err
}

// enter lets p lead a transaction if one may start, or else adds it to the waiting
// ones. It reports whether p leads.
func (l *groupCommit) enter(p *groupWrite) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.free > 0 {
		l.free--
		return true
	}
	l.waiting = append(l.waiting, p)
	return false
}

// quit removes p from the waiting ones, and reports whether it was still waiting.
func (l *groupCommit) quit(p *groupWrite) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, p)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// group returns p, which leads, and the writes that share its transaction.
func (l *groupCommit) group(p *groupWrite) []*groupWrite {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, size := 0, p.d.grew
	for n < len(l.waiting) && n < maxParcels-1 {
		if size += l.waiting[n].d.grew; size > laneBytes {
			break
		}
		n++
	}
	group := append([]*groupWrite{p}, l.waiting[:n]...)
	l.waiting = slices.Delete(l.waiting, 0, n)
	return group
}

// leave hands the lead to the first that waits.
func (l *groupCommit) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.free++
		return
	}
	first := l.waiting[0]
	l.waiting = slices.Delete(l.waiting, 0, 1)
	first.turn <- false
}

// lead acquires a connection and writes p, and what waits by then, in one
// transaction.
func (s appends) lead(p *groupWrite) {
	defer s.lanes.leave()
	pg, err := s.pool.Wait(p.ctx)
	if err != nil {
		p.err = err
		return
	}
	group := s.lanes.group(p)
	going := s.going(group)
	err = s.transmit(pg, going)
	pg.Release()
	for _, p := range going {
		p.answer(err, len(going) > 1)
	}
	for _, other := range group[1:] {
		other.turn <- true
	}
}

// answer sets the result of p. If other transactions were in the way, or the
// transaction may have been refused because of another write in it, p is not written
// and has to be tried by itself.
func (p *groupWrite) answer(err error, shared bool) {
	c := sqlstate.Of(err)
	switch {
	case c == sqlstate.LockTime, shared && c != "" && !errors.Is(err, skein.ErrUnknown):
		p.moved = false
	case err != nil:
		p.moved, p.err = false, err
	}
}

// going returns the writes whose callers still want them and that were made since
// heads were last forgotten, in the order of their sessions' numbers.
func (s appends) going(group []*groupWrite) (going []*groupWrite) {
	forgot := s.heads.times()
	for _, p := range group {
		if p.err = p.ctx.Err(); p.err == nil && p.forgot == forgot {
			going = append(going, p)
		}
	}
	slices.SortFunc(going, func(a, b *groupWrite) int { return cmp.Compare(a.d.n, b.d.n) })
	return going
}

// transmit sends the statements of the group as one transaction.
func (s appends) transmit(pg *pgxpool.Conn, group []*groupWrite) error {
	if len(group) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(group[0].ctx), wire.OwnTime)
	defer cancel()
	q := s.pool.Put(ctx, pg, group[0].s.user)
	pipe := q.Pipe()
	if locks := locksOf(group); len(locks) > 0 {
		pipe.Exec(takeLocks, locks)
	}
	counts := make([]int64, len(group))
	for i, p := range group {
		if p.s.user != q.User {
			pipe.Become(p.s.user)
		}
		sql, args := p.w.put(p.d, i)
		pipe.One(nil, sql, args, &counts[i])
	}
	if err := pipe.Finish(); err != nil {
		q.Rollback()
		return err
	}
	for i, p := range group {
		p.moved = counts[i] == 1
	}
	return nil
}

// locksOf returns the lock keys of the requests that the group charges, sorted.
func locksOf(group []*groupWrite) []int64 {
	var ids []string
	for _, p := range group {
		ids = append(ids, p.d.noRequests...)
	}
	return requestLocks(ids)
}
