//go:build unix

package guidance

import (
	"os"
	"syscall"
)

// openFlags keep an open from waiting for a FIFO's writer.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
