package agent

import (
	"math/rand/v2"
	"time"
)

// The waits between two tries of a request.
const (
	firstWait   = time.Second
	longestWait = time.Minute
	patience    = 5 * time.Minute // longest that a provider may ask for
)

// backoff returns how long to wait after the given try, 1 for the first, of a
// request whose provider wants to be left alone for a while: twice as long
// each time, and up to half as long again, so that many do not come back at
// once.
func backoff(try int, asked time.Duration) time.Duration {
	d := firstWait << min(try-1, 16)
	d = min(d, longestWait*2/3)
	d += rand.N(d / 2)
	return max(d, asked)
}
