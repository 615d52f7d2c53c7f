package harness

import (
	"context"
	"sync/atomic"
)

// An endingContext ends when its Done is called for the nth time. As with every context,
// Done returns one channel: whoever asked for it before learns of the end, too.
type endingContext struct {
	context.Context
	left atomic.Int32
	end  context.CancelFunc
}

// EndingAt returns the context of a caller who gives up in the middle of a call: when Done
// is called for the nth time, from 0.
func EndingAt(n int) context.Context {
	x := &endingContext{}
	x.Context, x.end = context.WithCancel(context.Background())
	x.left.Store(int32(n))
	return x
}

// Done implements [context.Context].
func (x *endingContext) Done() <-chan struct{} {
	if x.left.Add(-1) < 0 {
		x.end()
	}
	return x.Context.Done()
}
