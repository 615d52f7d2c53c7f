package remote

import (
	"net/http"
	"time"
)

// PauseAfter returns how long the store waits after a try that was refused with r.
func PauseAfter(try int, r *http.Response) time.Duration { return pauseAfter(try, refusal(r)) }
