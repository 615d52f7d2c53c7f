package sse

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/openapi"
)

// MediaType is the media type of server-sent events.
const MediaType = "text/event-stream"

// Slowest is how long a reader may take to receive one write.
const Slowest = 30 * time.Second

const (
	heartbeat  = 15 * time.Second
	maxWaiting = 1                     // frames that wait for a reader
	batchBytes = 256 << 10             // bytes of one write, about, at most
	between    = 20 * time.Millisecond // least time between two writes to one reader
)

// Frames yields the frames of a stream: fields, without the empty line after
// them. A frame longer than batchBytes has been sent when the next one is asked
// for: its memory can be given back.
type Frames = iter.Seq2[[]byte, error]

// Serve writes frames to w as they come, and a comment when none comes for a
// while, until they or ctx end. At most maxWaiting frames wait; a reader that takes
// none within Slowest is cut off.
func Serve(ctx context.Context, w http.ResponseWriter, all func(context.Context) Frames) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	waiting, sent, ended := make(chan []byte, maxWaiting), make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(waiting)
		ended <- pump(reading, all(reading), waiting, sent)
	}()
	p := &pen{w: w, control: http.NewResponseController(w)}
	p.begin()
	err := p.write(reading, waiting, sent)
	cancel()
	for range waiting { // until the pump has ended
	}
	err = errors.Join(err, <-ended)
	if err != nil && ctx.Err() == nil {
		p.fail(ctx, err)
	}
}

// pump passes on what comes, until nobody receives it. It waits until a long
// frame was sent.
func pump(ctx context.Context, all Frames, to chan<- []byte, sent <-chan struct{}) error {
	for f, err := range all {
		if err != nil {
			return err
		}
		select {
		case to <- f:
		case <-ctx.Done():
			return nil
		}
		if len(f) <= batchBytes {
			continue
		}
		select {
		case <-sent:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// pen writes a stream.
type pen struct {
	w       http.ResponseWriter
	control *http.ResponseController
	b       []byte
	long    []byte // a frame that follows b, not copied: its other readers share it
}

func (p *pen) begin() {
	h := p.w.Header()
	h.Set("Content-Type", MediaType)
	h.Set("X-Accel-Buffering", "no")
	p.w.WriteHeader(http.StatusOK)
	p.b = append(p.b, ": skein\n\n"...) // so that the client knows at once that it is connected
}

// write writes everything that waits, together, until no more comes. Its errors
// are those of the connection.
func (p *pen) write(ctx context.Context, waiting <-chan []byte, sent chan<- struct{}) error {
	beat := time.NewTimer(heartbeat)
	defer beat.Stop()
	for {
		long := p.long != nil
		if err := p.flush(); err != nil {
			return nil // the client has gone, or was too slow
		}
		if long {
			select {
			case sent <- struct{}{}:
			case <-ctx.Done():
				return nil
			}
		}
		beat.Reset(heartbeat)
		select {
		case f, ok := <-waiting:
			if !ok {
				return nil
			}
			p.take(f)
			p.gather(ctx, waiting)
		case <-beat.C:
			p.b = append(p.b, ":\n\n"...)
		case <-ctx.Done():
			return nil
		}
	}
}

// gather collects what comes within a moment: with many readers, this saves
// work.
func (p *pen) gather(ctx context.Context, waiting <-chan []byte) {
	pause := time.NewTimer(between)
	defer pause.Stop()
	for len(p.b) < batchBytes && p.long == nil {
		select {
		case f, ok := <-waiting:
			if !ok {
				return
			}
			p.take(f)
		case <-pause.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (p *pen) take(f []byte) {
	if len(f) > batchBytes {
		p.long = f
		return
	}
	p.b = append(append(p.b, f...), "\n\n"...)
}

// inTime sets the deadline for the next write.
func (p *pen) inTime() error {
	err := p.control.SetWriteDeadline(time.Now().Add(Slowest))
	if errors.Is(err, http.ErrNotSupported) { // a test's recorder
		err = nil
	}
	return err
}

// flush sends what was written.
func (p *pen) flush() error {
	if err := p.inTime(); err != nil {
		return err
	}
	if _, err := p.w.Write(p.b); err != nil {
		return err
	}
	if err := p.sendLong(); err != nil {
		return err
	}
	if p.b = p.b[:0]; cap(p.b) > batchBytes {
		p.b = nil
	}
	return p.control.Flush()
}

// sendLong sends a long frame. A slow reader gets time for each piece.
func (p *pen) sendLong() error {
	if p.long == nil {
		return nil
	}
	for piece := range slices.Chunk(p.long, batchBytes) {
		if err := p.inTime(); err != nil {
			return err
		}
		if _, err := p.w.Write(piece); err != nil {
			return err
		}
	}
	p.long = nil
	_, err := io.WriteString(p.w, "\n\n")
	return err
}

// fail sends the client the reason why the stream ends, as a problem.
func (p *pen) fail(ctx context.Context, err error) {
	b := append([]byte("event: problem\ndata: "), skein.MustJSON(openapi.ProblemOf(ctx, err))...)
	p.take(b)
	p.flush() //nolint:errcheck // the client has gone
}
