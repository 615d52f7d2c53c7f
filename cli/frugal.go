package cli

import (
	"math"
	"runtime/debug"
)

// heapGoal is how much memory the program takes, in bytes, before garbage is
// collected more often than usual: what is made of a long message is large, soon
// garbage, and has few pointers to follow.
const heapGoal = 96 << 20

// frugal keeps memory small whatever is read, unless GOMEMLIMIT says how large it
// may be.
func frugal() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(heapGoal)
	}
}
