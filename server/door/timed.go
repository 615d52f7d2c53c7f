package door

import (
	"io"
	"net/http"
	"time"
)

// A client that sends less than slowRate, after the first slowStart, or
// receives nothing for slowTake, is cut off: it would keep its connection
// forever.
const (
	slowStart = 30 * time.Second
	slowRate  = 16 << 10 // bytes a second
	slowTake  = 30 * time.Second
	refusedIn = 5 * time.Second // for the rest of a body that nobody reads
	piece     = 64 << 10        // bytes written at once
)

// hurry sets the deadline for the body of a request that no route reads.
func hurry(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedIn)) //nolint:errcheck // a test's recorder cannot
	}
}

// A timedBody is a body that must come at slowRate. Time between reads does not
// count.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	left    time.Duration
}

func inTime(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	return &timedBody{body, http.NewResponseController(w), slowStart}
}

// Read implements [io.Reader]. After the end of the body there is no limit: the
// connection is then only watched while the answer is made.
func (b *timedBody) Read(p []byte) (int, error) {
	began := time.Now()
	b.control.SetReadDeadline(began.Add(b.left)) //nolint:errcheck // a test's recorder cannot
	n, err := b.ReadCloser.Read(p)
	b.left += time.Duration(n)*time.Second/slowRate - time.Since(began)
	if err == io.EOF { //nolint:errorlint // bodies return it as it is
		b.control.SetReadDeadline(time.Time{}) //nolint:errcheck // a test's recorder cannot
	}
	return n, err
}

// lease gives the client time to receive the next write.
func (n *noting) lease() {
	if now := time.Now(); now.Sub(n.leased) > time.Second {
		n.leased = now
		http.NewResponseController(n.ResponseWriter).SetWriteDeadline(now.Add(slowTake)) //nolint:errcheck // a test's recorder cannot
	}
}
