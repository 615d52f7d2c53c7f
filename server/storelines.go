package server

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/server/sse"
)

const (
	lineBuffer = 64 << 10 // bytes that wait to be sent
	lineType   = "application/x-ndjson"
)

// lineAnswer is an answer of many lines.
type lineAnswer struct {
	Type string `header:"Content-Type"`
	Body func(huma.Context)
}

// list registers a method that returns many values; line yields each as JSON.
func list[In, T any](t *openapi.Table, o openapi.Operation, of any, line func(T) iter.Seq2[[]byte, error], f func(context.Context, skein.Store, In) iter.Seq2[T, error]) {
	type in struct{ Body In }
	o.Gives = []openapi.Media{{Type: lineType, Of: reflect.TypeOf(of)}}
	openapi.Register(t, o, func(ctx context.Context, i *in) (*lineAnswer, error) {
		next, stop := iter.Pull2(f(ctx, door.From(ctx).Store, i.Body))
		v, err, ok := next()
		if err != nil {
			stop()
			return nil, err
		}
		return &lineAnswer{lineType, func(c huma.Context) {
			defer stop()
			l := newLiner(c)
			defer l.end()
			for ; ok && l.err == nil; v, err, ok = next() {
				if err == nil {
					err = l.put(line(v))
				}
				if err != nil {
					l.problem(ctx, err)
					return
				}
			}
		}}, nil
	})
}

// liner writes lines to a client that may be slow.
type liner struct {
	w   http.ResponseWriter
	c   *http.ResponseController
	buf []byte
	err error // the client is gone, or too slow
}

func newLiner(c huma.Context) *liner {
	c.SetStatus(http.StatusOK)
	w, _ := c.BodyWriter().(http.ResponseWriter) // it is humago's
	return &liner{w: w, c: http.NewResponseController(w)}
}

// put writes a line. The error is that of its pieces.
func (l *liner) put(line iter.Seq2[[]byte, error]) error {
	err := l.writeAll(line)
	if err == nil {
		l.write([]byte{'\n'})
	}
	return err
}

func (l *liner) writeAll(pieces iter.Seq2[[]byte, error]) error {
	for b, err := range pieces {
		if err != nil {
			return err
		}
		l.write(b)
	}
	return nil
}

// write writes b, which is copied only if it is short.
func (l *liner) write(b []byte) {
	if len(l.buf)+len(b) > lineBuffer {
		l.flush()
	}
	if len(b) <= lineBuffer {
		l.buf = append(l.buf, b...)
		return
	}
	l.send(b)
}

func (l *liner) flush() {
	l.send(l.buf)
	l.buf = l.buf[:0]
}

func (l *liner) send(b []byte) {
	if l.err != nil {
		return
	}
	l.err = l.c.SetWriteDeadline(time.Now().Add(sse.Slowest))
	if errors.Is(l.err, http.ErrNotSupported) { // a test's recorder
		l.err = nil
	}
	if l.err == nil && len(b) > 0 {
		_, l.err = l.w.Write(b)
	}
	if l.err == nil {
		l.err = l.c.Flush()
	}
}

// problem writes the line that says why the list ends early.
func (l *liner) problem(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	p := door.ProblemOf(err)
	p.ID = door.From(ctx).ID
	if p.Code == "internal" {
		door.Note(ctx, err)
	}
	_ = l.put(skein.JSONPieces(map[string]door.Problem{"problem": p})) // it is JSON
}

// end sends what is buffered, and clears the deadline for the connection's next
// request.
func (l *liner) end() {
	l.flush()
	if l.err == nil {
		l.c.SetWriteDeadline(time.Time{}) //nolint:errcheck // a recorder has none
	}
}
