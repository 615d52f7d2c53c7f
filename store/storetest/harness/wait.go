package harness

import (
	"sync"
	"time"
)

// Late is when to give up waiting for something: a machine may be slow.
const Late = 5 * time.Minute

// Everyone runs f as n writers.
func Everyone(n int, f func(w int)) {
	var wg sync.WaitGroup
	for w := range n {
		wg.Go(func() { f(w) })
	}
	wg.Wait()
}
