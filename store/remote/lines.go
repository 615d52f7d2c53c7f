package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/server/door"
)

const readBuffer = 64 << 10

// list calls a method that responds with lines, and yields what read makes of each.
func list[T any](ctx context.Context, v *view, method string, in any, read func([]byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fail := func(err error) {
			skein.Wrapf(&err, "remote: %s", method)
			var none T
			yield(none, err)
		}
		leave, err := v.enter(ctx)
		if err != nil {
			fail(err)
			return
		}
		leave() // the caller's loop may close the store
		ctx, cancel := v.within(ctx)
		defer cancel()
		r, err := v.open(ctx, method, in)
		if err != nil {
			fail(v.why(err))
			return
		}
		defer r.Body.Close() //nolint:errcheck // it was read, or nobody wants the rest
		for line, err := range linesOf(r) {
			var one T
			if err == nil {
				one, err = read(line)
			}
			if err != nil {
				fail(v.why(err))
				return
			}
			if !yield(one, nil) {
				return
			}
		}
	}
}

// within returns a context that ends with ctx and with the store.
func (c *core) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ending, cancel)
	return ctx, func() { stop(); cancel() }
}

// why returns [skein.ErrClosed] for an error caused by the closing of the store.
func (c *core) why(err error) error {
	if c.ending.Err() != nil && errors.Is(err, context.Canceled) {
		return skein.ErrClosed
	}
	return err
}

// open calls a method that responds with lines, again if the server did not begin
// with it.
func (v *view) open(ctx context.Context, method string, in any) (*http.Response, error) {
	for try := 1; ; try++ {
		r, err := v.request(ctx, http.MethodPost, "/v1/store/"+method, bytes.NewReader(skein.MustJSON(in)))
		if err == nil || !refused(err) || try == tries || !wait(ctx, try, err) {
			return r, err
		}
	}
}

// linesOf yields the lines of a response, each valid until the next. If a line is a
// problem, the error is the problem's.
func linesOf(r *http.Response) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r.Body, readBuffer)
		var line []byte
		for {
			var err error
			line, err = readLine(in, line[:0])
			switch {
			case errors.Is(err, io.EOF) && len(line) == 0:
				return
			case err != nil:
				yield(nil, unreached(r.Request.Context(), err))
				return
			case bytes.HasPrefix(line, []byte(`{"problem":`)):
				yield(nil, problemOf(line))
				return
			case !yield(line, nil):
				return
			}
		}
	}
}

// readLine appends a line, without its end, to line. If the input ends in the middle
// of a line, the error is [io.ErrUnexpectedEOF].
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	line, err := lines.Append(line, in, math.MaxInt)
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, io.ErrUnexpectedEOF
	}
	return line, err
}

// problemOf returns the error of a line that is a problem.
func problemOf(line []byte) error {
	var p struct {
		Problem door.Problem `json:"problem"`
	}
	if err := json.Unmarshal(line, &p); err != nil {
		return fmt.Errorf("%w: a problem: %w", ErrVersion, err)
	}
	return problem(p.Problem)
}

// readJSON decodes a line into a T.
func readJSON[T any](line []byte) (v T, err error) {
	if err := json.Unmarshal(line, &v); err != nil {
		return v, fmt.Errorf("%w: a line of the server's answer: %w", ErrVersion, err)
	}
	return v, nil
}
