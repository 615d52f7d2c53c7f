package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/door"
)

const (
	tries      = 3                      // for requests that may be sent again
	pause      = 100 * time.Millisecond // before the second one; then four times as long
	mostPause  = 30 * time.Second       // even if the server asks for a longer one
	maxProblem = 4 << 20                // bytes of a response that says what is wrong
)

// request sends a request and returns the response, if the server did what was
// asked.
func (v *view) request(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, v.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+v.token)
	if v.user != "" {
		r.Header.Set(door.UserHeader, url.QueryEscape(string(v.user)))
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if b, ok := body.(*bodyReader); ok {
		r.ContentLength = int64(len(b.b.data))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(b.b.reader()), nil }
	} else {
		r.Header["Idempotency-Key"] = nil // it is not sent, but lets the transport try again on another connection
	}
	return v.do(r)
}

func (v *view) do(r *http.Request) (*http.Response, error) {
	answer, err := v.client.Do(r)
	if err != nil {
		return nil, unreached(r.Context(), err)
	}
	if answer.StatusCode/100 != 2 {
		defer answer.Body.Close() //nolint:errcheck // it was read
		return nil, refusal(answer)
	}
	return answer, nil
}

// unreached returns why there is no response.
func unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err // without the URL, which is reported elsewhere
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// refusal returns why the server did not do what was asked.
func refusal(r *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxProblem))
	var p door.Problem
	if err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") || json.Unmarshal(b, &p) != nil {
		kind := ErrVersion
		if r.StatusCode == http.StatusBadGateway || r.StatusCode == http.StatusServiceUnavailable || r.StatusCode == http.StatusGatewayTimeout {
			kind = ErrUnreachable
		}
		return later(fmt.Errorf("%w: the answer is %s", kind, r.Status), r.Header)
	}
	return later(problem(p), r.Header)
}

// A laterError is a refusal after which the request should be sent again, but not
// before a time.
type laterError struct {
	error
	after time.Duration
}

// Unwrap returns the refusal.
func (l *laterError) Unwrap() error { return l.error }

// later returns err with the time that the headers of the response tell to wait.
func later(err error, h http.Header) error {
	if s, wrong := strconv.Atoi(h.Get("Retry-After")); wrong == nil && s > 0 {
		return &laterError{err, time.Duration(min(s, int(mostPause/time.Second))) * time.Second}
	}
	return err
}

// problem returns the error that a problem describes.
func problem(p door.Problem) error {
	switch {
	case p.Status == http.StatusUnauthorized:
		return ErrToken
	case p.Wants(door.Admin):
		return fmt.Errorf("%w: %s", ErrAdmin, p.Detail)
	case p.Status == http.StatusForbidden:
		return fmt.Errorf("%w: %s", ErrForbidden, p.Detail)
	case p.Code == "no_route" || p.Status == http.StatusMethodNotAllowed:
		return fmt.Errorf("%w: %s", ErrVersion, p.Detail)
	case p.Code == "closed":
		return errStopping
	case p.Code == "unavailable":
		return errLookup
	case p.Code == "size":
		return fmt.Errorf("%w: %s", skein.ErrInvalid, p.Detail)
	}
	return p.Err()
}

// errStopping says that the server's store is closed: nothing was done.
var errStopping = fmt.Errorf("%w: the server is stopping", ErrUnreachable)

// errLookup says that the server's registry is unavailable, so that it does not know
// whose token this is: nothing was done.
var errLookup = fmt.Errorf("%w: the server cannot look up the token now", ErrUnreachable)

// refused reports whether err says that the server did not begin with the request:
// it cannot be reached, or it is busy.
func refused(err error) bool {
	return errors.Is(err, ErrUnreachable) || errors.Is(err, door.ErrBusy)
}

// answer decodes the response into out.
func (v *view) answer(r *http.Response, out any) error {
	defer r.Body.Close() //nolint:errcheck // it was read
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return unreached(r.Request.Context(), err)
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("%w: the server's answer: %w", ErrVersion, err)
	}
	return nil
}

// ask calls a method that changes nothing, or that may safely run twice.
func ask[T any](ctx context.Context, v *view, method string, in any) (out T, err error) {
	leave, err := v.enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	for try := 1; ; try++ {
		err = v.once(ctx, method, in, &out)
		if !refused(err) || try == tries || !wait(ctx, try, err) {
			return out, err
		}
	}
}

// wait waits before the next try after one that failed with err, and reports whether
// there should be one.
func wait(ctx context.Context, try int, err error) bool {
	return sleep.For(ctx, pauseAfter(try, err)) == nil
}

// pauseAfter returns how long to wait after a try that failed with err.
func pauseAfter(try int, err error) time.Duration {
	d := pause << (2 * (try - 1))
	if l := (*laterError)(nil); errors.As(err, &l) {
		d = max(d, l.after)
	}
	return d
}

// once calls a method.
func (v *view) once(ctx context.Context, method string, in, out any) error {
	r, err := v.request(ctx, http.MethodPost, "/v1/store/"+method, bytes.NewReader(skein.MustJSON(in)))
	if err != nil {
		return err
	}
	return v.answer(r, out)
}

// change calls a method that must not run twice. If its response was lost, the
// error wraps [skein.ErrUnknown].
func change[T any](ctx context.Context, v *view, method string, in any) (out T, err error) {
	leave, err := v.enter(ctx)
	if err != nil {
		return out, err
	}
	defer leave()
	r, err := v.send(ctx, "/v1/store/"+method, skein.MustJSON(in))
	if err == nil {
		err = lost(v.answer(r, &out))
	}
	return out, err
}

// lost returns err, from a request that was sent, as one that leaves its outcome open.
func lost(err error) error {
	if errors.Is(err, errStopping) || errors.Is(err, errLookup) {
		return err
	}
	if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrVersion) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", skein.ErrUnknown, err)
	}
	return err
}
