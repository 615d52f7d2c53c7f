package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/skein-dev/skein/server/door"
)

// silence is how long a stream may send nothing at all: the server sends a sign of
// life every 15 seconds.
const silence = 45 * time.Second

// A sseEvent is an event of a stream (the HTML standard, section 9.2): lines of
// id, event and data, and an empty line.
type sseEvent struct {
	id, event string
	data      []byte
}

// frames reads a stream and passes each event to take, until the stream ends or take
// returns an error, which it returns.
func frames(ctx context.Context, open func(context.Context) (*http.Response, error), take func(sseEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := open(ctx)
	if err != nil {
		return err
	}
	defer r.Body.Close() //nolint:errcheck // nobody wants the rest
	quiet := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer quiet.Stop()
	in := bufio.NewReaderSize(r.Body, readBuffer)
	var f sseEvent
	var line []byte
	for {
		if line, err = readLine(in, line[:0]); err != nil {
			return brokeOff(ctx, err)
		}
		quiet.Reset(silence)
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) > 0 {
			f.add(line)
			continue
		}
		if f.data == nil {
			continue // a comment
		}
		if f.event == "problem" {
			p, err := readJSON[door.Problem](f.data)
			if err == nil {
				err = problem(p)
			}
			return err
		}
		if err := take(f); err != nil {
			return err
		}
		f = sseEvent{}
	}
}

var errSilent = fmt.Errorf("%w: the stream went silent", ErrUnreachable)

// brokeOff returns why a stream ended.
func brokeOff(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: the server ended the stream", ErrUnreachable)
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return unreached(ctx, err)
}

// add adds a line to f.
func (f *sseEvent) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		f.id = string(value)
	case "event":
		f.event = string(value)
	case "data":
		if f.data != nil {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
	}
}
