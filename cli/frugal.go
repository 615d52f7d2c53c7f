package cli

import (
	"math"
	"runtime/debug"
)

// heapGoal is how much memory an import or export takes, in bytes, before garbage is
// collected more often than usual.
const heapGoal = 96 << 20

// frugal keeps memory small whatever files are read, unless GOMEMLIMIT says how
// large it may be.
func frugal() {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(heapGoal)
	}
}
