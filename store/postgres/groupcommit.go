package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
)

// How many transactions of usual appends this process runs at once, and how much
// one of them writes at most.
const (
	maxLanes   = 8
	maxParcels = 32
	laneBytes  = 1 << 20
)

// A groupWrite is what appends to one session will write by one statement.
type groupWrite struct {
	ctx    context.Context
	s      *Store // whose view it is of
	w      *work
	d      *draft
	forgot int       // how often heads had been forgotten when d was read
	turn   chan bool // true: it has its answer; false: it is to lead those that wait

	moved bool // it is written
	err   error
}

// groupCommit are where parcels wait for each other. Who comes while a lane is free
// leads it, at once; who comes later waits, and shares a transaction with the
// others who do: one commit for all of them.
type groupCommit struct {
	mu      sync.Mutex
	free    int
	waiting []*groupWrite
}

func newGroupCommit(connections int32) *groupCommit {
	return &groupCommit{free: max(1, min(maxLanes, int(connections)/2))}
}

// send writes what p has, and reports whether it has: not if the session is not
// as was believed, or others are in the way. From when it is sent ctx stops
// nothing.
func (s *Store) send(p *groupWrite) (moved bool, err error) {
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
			if done := <-p.turn; done { // it is being written
				return p.moved, p.err
			}
		}
	}
	s.lead(p)
	return p.moved, p.err
}

// enter takes a free lane, or lets p wait, and reports whether it leads.
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

// quit takes p from those that wait, and reports whether it still did.
func (l *groupCommit) quit(p *groupWrite) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, p)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	return i >= 0
}

// group returns p, which leads, and what goes along with it.
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

// leave hands the lane to the first who waits.
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

// lead writes p, and what waits when there is a connection, in one transaction.
func (s *Store) lead(p *groupWrite) {
	defer s.lanes.leave()
	pg, err := s.acquire(p.ctx)
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

// answer says what became of p. Where others were in the way of the transaction,
// or it may have been refused for another parcel's sake, p is not written, and to
// be tried by itself.
func (p *groupWrite) answer(err error, shared bool) {
	c := code(err)
	switch {
	case c == codeLockTime, shared && c != "" && !errors.Is(err, skein.ErrUnknown):
		p.moved = false
	case err != nil:
		p.moved, p.err = false, err
	}
}

// going returns those of the parcels whose callers still want them, and which were
// made since heads were forgotten, in the order of their sessions' numbers.
func (s *Store) going(group []*groupWrite) (going []*groupWrite) {
	forgot := s.heads.times()
	for _, p := range group {
		if p.err = p.ctx.Err(); p.err == nil && p.forgot == forgot {
			going = append(going, p)
		}
	}
	slices.SortFunc(going, func(a, b *groupWrite) int { return cmp.Compare(a.d.n, b.d.n) })
	return going
}

// transmit sends the statements of the parcels as one transaction.
func (s *Store) transmit(pg *pgxpool.Conn, group []*groupWrite) error {
	if len(group) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(group[0].ctx), ownTime)
	defer cancel()
	q := &conn{ctx: ctx, pg: pg, s: group[0].s, begin: s.beginPut, set: setPut}
	pipe := q.pipe()
	if locks := locksOf(group); len(locks) > 0 {
		pipe.exec(takeLocks, locks)
	}
	counts := make([]int64, len(group))
	for i, p := range group {
		if p.s.user != q.s.user {
			q.s = p.s
			pipe.exec(setRole, p.s.role(), string(p.s.user))
		}
		sql, args := p.w.put(p.d, i)
		pipe.one(nil, sql, args, &counts[i])
	}
	end := func() error { return classifyCommit(pipe.run()) }
	if q.begin != "" {
		end = pipe.commit
	}
	if err := end(); err != nil {
		q.rollback()
		return err
	}
	for i, p := range group {
		p.moved = counts[i] == 1
	}
	return nil
}

// locksOf returns the locks of the requests that the parcels charge, in order.
func locksOf(group []*groupWrite) []int64 {
	var ids []string
	for _, p := range group {
		ids = append(ids, p.d.noRequests...)
	}
	return requestLocks(ids)
}
