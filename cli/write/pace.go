package write

import (
	"context"
	"time"

	"github.com/skein-dev/skein/internal/sleep"
)

// A pace keeps the first import of a watch at half a core, where the system does not:
// it rests until the process has used at most half of the time that has passed.
type pace struct {
	began time.Time
	used  time.Duration // of the processor, before it began
	cpu   func() time.Duration
}

func newPace() *pace { return &pace{time.Now(), processorTime(), processorTime} }

// rest waits as long as the pace demands, or until ctx ends.
func (p *pace) rest(ctx context.Context) {
	_ = sleep.For(ctx, p.due(time.Since(p.began))) // its caller sees that ctx has ended
}

// due returns how long to rest after a time has passed.
func (p *pace) due(passed time.Duration) time.Duration {
	return 2*(p.cpu()-p.used) - passed
}
