package door

import (
	"io"
	"net/http"
	"time"
)

// Who sends less than slowRate, beyond the first slowStart, or takes nothing for
// slowTake, is cut off: it would keep a connection for ever.
const (
	slowStart = 30 * time.Second
	slowRate  = 16 << 10 // bytes a second
	slowTake  = 30 * time.Second
	refusedIn = 5 * time.Second // how long the rest of a body may take that nobody reads
	piece     = 64 << 10        // bytes that are written at once
)

// hurry says by when the body of a request has to be there if no route reads it.
func hurry(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedIn)) //nolint:errcheck // a test's recorder cannot
	}
}

// A timedBody is a body that has to come at slowRate. What its reader does in
// between takes none of that time.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
	left    time.Duration
}

func inTime(w http.ResponseWriter, body io.ReadCloser) io.ReadCloser {
	return &timedBody{body, http.NewResponseController(w), slowStart}
}

// Read implements [io.Reader]. Behind the end of the body there is no limit: the
// connection is only watched then, for as long as the answer takes.
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

// lease gives the client time to take what is written next.
func (n *noting) lease() {
	if now := time.Now(); now.Sub(n.leased) > time.Second {
		n.leased = now
		http.NewResponseController(n.ResponseWriter).SetWriteDeadline(now.Add(slowTake)) //nolint:errcheck // a test's recorder cannot
	}
}
