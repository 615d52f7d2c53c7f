package cli

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/screen"
)

// again shows s at the pace at which it was said.
func (c *chat) again(ctx context.Context, s skein.Session) error {
	r := &replaying{speed: c.options.speed}
	if t, ok := c.screen.(*screen.Terminal); ok {
		keys, release := t.Keys()
		defer release()
		r.keys = keys
		c.tell("(replay: the space bar pauses, Ctrl-C shows the rest at once)")
	}
	c.gap("past")
	t := c.transcript(nil)
	t.j.store = c.thread.store
	return t.j.replay(ctx, printer{c.screen}, s, r, t.o)
}

// A printer is an io.Writer that prints on a screen. Each write must be whole
// lines.
type printer struct{ screen.Screen }

func (p printer) Write(b []byte) (int, error) {
	p.Print(string(b))
	return len(b), nil
}
