package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// patience is how long to wait for the response to what was sent after the
// caller has given up.
const patience = 10 * time.Second

// send posts a request once. As long as the server cannot have all of it, ctx ends
// it, and the error says that nothing was done; after that the error wraps
// [skein.ErrUnknown] if there is no response.
func (v *view) send(ctx context.Context, path string, data []byte) (*http.Response, error) {
	b := &body{data: data}
	going, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !b.stop() {
			t := time.NewTimer(patience)
			defer t.Stop()
			select {
			case <-t.C:
			case <-going.Done():
			}
		}
		cancel()
	})
	r, err := v.request(going, http.MethodPost, path, b.reader())
	if err != nil {
		stop()
		cancel()
		return nil, b.outcome(ctx, err)
	}
	r.Body = &closeHook{r.Body, func() { stop(); cancel() }}
	return r, nil
}

// closeHook is a body that calls then when it is closed.
type closeHook struct {
	io.ReadCloser
	then func()
}

// Close implements [io.Closer].
func (e *closeHook) Close() error {
	defer e.then()
	return e.ReadCloser.Close()
}

// body is what is sent. It knows whether all of it was handed over.
type body struct {
	data    []byte
	mu      sync.Mutex
	given   bool // the server may have all of it
	stopped bool // it never will have
}

// stop withholds what was not handed over, and reports whether anything was left.
func (b *body) stop() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = !b.given
	return b.stopped
}

// outcome returns err as one that says what is known about the request.
func (b *body) outcome(ctx context.Context, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.stopped:
		return ctx.Err()
	case b.given:
		return lost(err)
	}
	return err
}

func (b *body) reader() *bodyReader { return &bodyReader{b: b, rest: bytes.NewReader(b.data)} }

// bodyReader reads a body once.
type bodyReader struct {
	b    *body
	rest *bytes.Reader
}

// errStopped ends a request whose caller has given up.
var errStopped = errors.New("the caller has given up")

// Read implements [io.Reader].
func (r *bodyReader) Read(p []byte) (int, error) {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.b.stopped {
		return 0, errStopped
	}
	n, err := r.rest.Read(p)
	if r.rest.Len() == 0 {
		r.b.given = true
	}
	return n, err
}
