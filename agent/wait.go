package agent

import (
	"math/rand/v2"
	"time"
)

// The waits between two attempts of a request.
const (
	firstWait   = time.Second
	longestWait = time.Minute
	patience    = 5 * time.Minute // the longest that a provider may ask for
)

// backoff returns how long to wait after the given try, 1 for the first, of a
// request whose provider asks clients to wait: twice as long each time, plus a
// random part of up to half of that, so that many clients do not return at
// once.
func backoff(try int, asked time.Duration) time.Duration {
	d := firstWait << min(try-1, 16)
	d = min(d, longestWait*2/3)
	d += rand.N(d / 2)
	return max(d, asked)
}
