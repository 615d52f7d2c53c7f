package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// patience is how long a provider may be silent: a model that is loaded from a
// slow disk, or that reads a long prompt without a GPU, takes minutes.
const patience = 10 * time.Minute

var errSilent = errors.New("silent for too long")

// HTTP returns the client to send requests with: that of the options, or one
// that gives up after ten minutes without a byte. Neither follows redirects,
// which would send the key to another address.
func (o *Options) HTTP() *http.Client {
	c := http.Client{Transport: silenceGuard{http.DefaultTransport, patience}}
	if o.Client != nil {
		c = *o.Client
	}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// silenceGuard cancels requests whose response is silent for too long.
type silenceGuard struct {
	next  http.RoundTripper
	after time.Duration
}

// RoundTrip implements [http.RoundTripper].
func (w silenceGuard) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	b := &watchedBody{ctx: ctx, cancel: cancel, after: w.after}
	b.timer = time.AfterFunc(w.after, func() { cancel(fmt.Errorf("%w: no byte in %s", errSilent, w.after)) })
	res, err := w.next.RoundTrip(req.WithContext(ctx))
	b.timer.Stop()
	if err != nil {
		err = b.why(err)
		cancel(nil)
		return nil, err
	}
	b.ReadCloser = res.Body
	res.Body = b
	return res, nil
}

// watchedBody is the body of a response. Its timer runs only during reads, so
// that a slow reader is not taken for a silent provider.
type watchedBody struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	after  time.Duration
}

// why returns errSilent instead of err if that was the reason.
func (b *watchedBody) why(err error) error {
	if cause := context.Cause(b.ctx); errors.Is(cause, errSilent) {
		return cause
	}
	return err
}

// Read implements [io.Reader].
func (b *watchedBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.after)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.why(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *watchedBody) Close() error {
	b.timer.Stop()
	b.cancel(nil)
	return b.ReadCloser.Close()
}
