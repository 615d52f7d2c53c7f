package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/skein-dev/skein"
)

// How long a message waits for a session that another program works on: in
// total, and between two tries.
const (
	lockedFor  = 2 * time.Minute
	lockedTry  = time.Second
	lockedTryN = 8 * time.Second // at most
)

// talked returns what the agent says. While another program works on the
// session it tries again, until it has waited for lockedFor; then the error
// names that program.
func (g *Gateway) talked(ctx context.Context, t Talk) (a Answer, err error) {
	pause := lockedTry
	for waited := time.Duration(0); ; waited += pause {
		a, err = g.Talker.Talk(ctx, t)
		if !errors.Is(err, skein.ErrLocked) || waited >= lockedFor {
			return a, err
		}
		if waited > 0 {
			pause = min(2*pause, lockedTryN)
		}
		g.Log.Info("a message waits: another program is working on its session", "key", t.Key, "err", err)
		if g.Wait(ctx, pause) != nil {
			return a, err
		}
	}
}
