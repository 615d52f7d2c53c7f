package door

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// What requests may hold of bodies, all together. What is made of a body takes
// as much again, and more.
const (
	maxHeld   = 512 << 20 // bytes
	heldPiece = 256 << 10 // that is taken at once; the first of each body is not counted
	heldFor   = 10 * time.Second
)

// ErrBusy says that the bodies of other requests take all the room there is. It
// is 503: nothing was done.
var ErrBusy = errors.New("the bodies of other requests take all the room: send it again later, or in smaller pieces")

// room is how much of bodies is held. Its zero value is empty.
type room struct {
	mu    sync.Mutex
	most  int64 // 0: maxHeld
	held  int64
	freed chan struct{} // closed when there is more room; nil: nobody waits for that
}

// take takes room for n bytes, or waits until there is some: at most heldFor, then
// it returns [ErrBusy].
func (r *room) take(ctx context.Context, n int64) error {
	var late <-chan time.Time
	for {
		freed := r.try(n)
		if freed == nil {
			return nil
		}
		if late == nil {
			t := time.NewTimer(heldFor)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-freed:
		case <-late:
			return ErrBusy
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// try takes room for n bytes; if there is none, it returns what tells when to try
// again.
func (r *room) try(n int64) (freed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most := r.most
	if most == 0 {
		most = maxHeld
	}
	if r.held+n <= most {
		r.held += n
		return nil
	}
	if r.freed == nil {
		r.freed = make(chan struct{})
	}
	return r.freed
}

// give gives it back.
func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held -= n
	if r.freed != nil {
		close(r.freed)
		r.freed = nil
	}
}

// A heldBody takes room for what is read of it, until leave.
type heldBody struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // of the request whose body it is
	room  *room
	read  int64
	taken int64
}

// Read implements [io.Reader].
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	for b.read > heldPiece+b.taken {
		if err := b.room.take(b.ctx, heldPiece); err != nil {
			return 0, err
		}
		b.taken += heldPiece
	}
	return n, err
}

// leave gives back what was taken.
func (b *heldBody) leave() { b.room.give(b.taken) }
