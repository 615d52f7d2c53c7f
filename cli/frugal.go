package cli

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// heapGoal is the memory use, in bytes, above which garbage is collected more often
// than usual: what is made from a long message is large, soon garbage, and has few
// pointers to follow.
const heapGoal = 96 << 20

// frugal keeps memory use small whatever is read, unless GOMEMLIMIT sets a limit.
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

// A goal is the memory use above which garbage is collected at once. If most of the
// memory is still in use, collections follow so closely that little else gets done: then
// the goal is raised for a while.
type goal struct {
	made int64 // total bytes ever allocated, at the last collection
	soon int   // how many collections in a row came early
	high int64 // 0 for the usual one
}

const (
	soonAfter = heapGoal / 12 // bytes allocated between two collections
	tooSoon   = 4             // collections in a row
)

// after returns the goal after a collection that found live bytes in use; made is
// how many bytes were ever allocated.
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

// atEachCollection calls do after each garbage collection from now on.
func atEachCollection(do func()) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(new(sentinel), func(*sentinel) {
		do()
		atEachCollection(do)
	})
}
