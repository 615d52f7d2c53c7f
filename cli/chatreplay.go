package cli

import (
	"context"

	"github.com/skein-dev/skein"
)

// again shows all of s.
func (c *chat) again(ctx context.Context, s skein.Session) error {
	return c.messages(ctx, s, int(s.Last))
}
