//go:build unix

package storetest

import (
	"context"
	"os"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// StopAtRest stops a process, as Ctrl-Z does, while it is not writing to s: it
// may be updating its index in the background, and then nobody else could
// write. It adds one or more sessions without messages.
//
// Errors are ctx's, the system's and those of the append.
func StopAtRest(ctx context.Context, s skein.Store, p *os.Process) error {
	return harness.StopAtRest(ctx, s, p)
}
