package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// heapGoal is how much memory the program takes, in bytes, before garbage is
// collected more often than usual: what is made of a long message is large, soon
// garbage, and has few pointers to follow.
const heapGoal = 96 << 20

// frugal keeps memory small whatever is read, unless GOMEMLIMIT says how large it
// may be.
var frugal = sync.OnceFunc(func() {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	debug.SetMemoryLimit(heapGoal)
	var g goal
	atEachCollection(func() {
		now := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(now)
		debug.SetMemoryLimit(g.after(int64(now[0].Value.Uint64()), int64(now[1].Value.Uint64())))
	})
})

// A goal is how much memory is taken before garbage is collected at once. Where
// much is in use that is no garbage, collections come so soon after each other that
// little else is done: then it is higher for a while.
type goal struct {
	made int64 // bytes, ever, at the last collection
	soon int   // how many collections in a row came soon
	high int64 // 0 for the usual one
}

const (
	soonAfter = heapGoal / 12 // bytes that were made between two collections
	tooSoon   = 4             // collections in a row
)

// after returns the goal after a collection that found so many bytes in use; made
// is how many were ever made.
func (g *goal) after(live, made int64) int64 {
	if made-g.made < soonAfter {
		g.soon++
	} else {
		g.soon = 0
	}
	g.made = made
	switch {
	case g.soon >= tooSoon:
		g.high = live + live/4 + heapGoal/4
	case live < heapGoal/2:
		g.high = 0
	}
	return max(heapGoal, g.high)
}

// atEachCollection calls do after each collection of garbage from now on.
func atEachCollection(do func()) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		do()
		atEachCollection(do)
	})
}
