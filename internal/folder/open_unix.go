//go:build unix

package folder

import (
	"os"
	"syscall"
)

// openFlags keep an open from waiting for a FIFO's writer and from following
// a link that was put in a file's place.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW
