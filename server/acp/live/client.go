package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
)

// An Attachment is a guest's side of a hub.
type Attachment struct {
	Welcome
	conn net.Conn
	in   *bufio.Reader
	stop func() bool

	mu   sync.Mutex
	n    int64
	open map[int64]chan Line
	err  error // why nothing more comes
}

// Attach attaches to a live session until ctx ends. [Attachment.Read] must be called
// until it fails.
//
// The error wraps [skein.ErrNotFound] if no process that is reached here has the session.
func (s Sockets) Attach(ctx context.Context, id skein.SessionID, a Attach) (*Attachment, error) {
	c, err := s.dial(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &Attachment{conn: c, in: bufio.NewReaderSize(c, 1<<16), open: map[int64]chan Line{}}
	t.stop = context.AfterFunc(ctx, func() { c.Close() }) //nolint:errcheck // nothing is lost
	if err = t.write(a); err == nil {
		err = t.next(&t.Welcome)
	}
	if err == nil && t.Error != "" {
		err = errors.New(t.Error)
	}
	if err != nil {
		t.Close()
		return nil, fmt.Errorf("%w: %w", notHere(id), err)
	}
	return t, nil
}

// errGone says that a hub has ended before it answered: what was asked may have been done.
var errGone = fmt.Errorf("the program that has the session has ended before it answered: %w", io.ErrUnexpectedEOF)

// Asked returns what an agent asks for in a live session, the oldest first.
//
// The error wraps [skein.ErrNotFound] if no process that is reached here has the session.
func (s Sockets) Asked(ctx context.Context, id skein.SessionID) ([]OpenPermission, error) {
	t, err := s.Attach(ctx, id, Attach{Brief: true})
	if err != nil {
		return nil, err
	}
	t.Close()
	return t.Welcome.Asked, nil
}

// Answer gives w, the answer to what an agent asks for, in a live session; by says whose
// it is. It has been stored when Answer returns.
//
// The error wraps [ErrAnswered] if somebody else was faster, and [skein.ErrNotFound] if
// no process that is reached here has the session.
func (s Sockets) Answer(ctx context.Context, id skein.SessionID, by string, w Wish) error {
	t, err := s.Attach(ctx, id, Attach{By: by, Brief: true})
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for err := error(nil); err == nil; {
			_, err = t.Read()
		}
	})
	_, err = t.Ask(ctx, w)
	t.Close()
	reading.Wait()
	return err
}

// Close detaches.
func (t *Attachment) Close() {
	t.stop()
	t.conn.Close() //nolint:errcheck // nothing is lost
}

func (t *Attachment) write(v any) error {
	_, err := t.conn.Write(append(skein.MustJSON(v), '\n'))
	return err
}

func (t *Attachment) next(v any) error {
	b, err := t.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// Read returns the next line that is not the answer to a request.
//
// The error is that of the connection, [io.EOF] if the session was closed, or this guest
// was too slow: after [Line.End] it was closed, and this guest has all that happened.
func (t *Attachment) Read() (l Line, err error) {
	for {
		l = Line{}
		if err := t.next(&l); err != nil {
			t.mu.Lock()
			t.err = err
			for _, c := range t.open {
				close(c)
			}
			t.open = map[int64]chan Line{}
			t.mu.Unlock()
			return l, err
		}
		if l.ID == 0 {
			return l, nil
		}
		t.mu.Lock()
		c := t.open[l.ID]
		delete(t.open, l.ID)
		t.mu.Unlock()
		if c != nil {
			c <- l
		}
	}
}

// Ask makes a request of the hub, while another goroutine reads.
//
// The error is the hub's answer, which may wrap [ErrAnswered], [skein.ErrNotFound] or
// [skein.ErrInvalid], that of the connection, or ctx's.
func (t *Attachment) Ask(ctx context.Context, w Wish) (json.RawMessage, error) {
	c := make(chan Line, 1)
	t.mu.Lock()
	if t.err != nil {
		defer t.mu.Unlock()
		return nil, t.err
	}
	t.n++
	w.ID = t.n
	t.open[w.ID] = c
	err := t.write(w)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case l, ok := <-c:
		switch {
		case !ok:
			return nil, errGone
		case l.Error != "":
			return nil, refusalOf(l.Error)
		}
		return l.Result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A hubError is the error of a hub, and the one that it wraps there.
type hubError struct {
	text string
	of   error
}

func (r hubError) Error() string { return r.text }
func (r hubError) Unwrap() error { return r.of }

// refusalOf returns the error that a hub has told in words.
func refusalOf(text string) error {
	for _, of := range []error{ErrAnswered, skein.ErrNotFound, skein.ErrInvalid} {
		if strings.Contains(text, of.Error()) {
			return hubError{text, of}
		}
	}
	return errors.New(text)
}
