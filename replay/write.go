package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// A Writer writes a log. Each line but a very long one goes to the underlying writer
// in one call, so that a log can be followed while it is written. It is not safe for concurrent
// use.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Begin writes the head of a session. Errors are those of the underlying writer.
func (w *Writer) Begin(h Header) error { return w.line(appendHead(w.buf[:0], h)) }

// Event writes an event of the current session, with its seq. The error
// wraps [skein.ErrInvalid] if its time is not in the years 0 to 9999, or is
// that of the underlying writer.
func (w *Writer) Event(e skein.Event) error { return w.event(e, "") }

// WritePlaceholder writes e in the place of an event that is damaged, as why says.
// Errors as [Writer.Event].
func (w *Writer) WritePlaceholder(e skein.Event, why string) error { return w.event(e, why) }

func (w *Writer) event(e skein.Event, damaged string) error {
	var long []byte // a payload that is written where it is: it may be most of the memory in use
	if len(e.Payload) > chunk && plain(e.Payload) {
		long, e.Payload = e.Payload, json.RawMessage("{}")
	}
	b, err := appendEvent(w.buf[:0], e, damaged)
	if err != nil {
		return err
	}
	if long == nil {
		return w.line(b)
	}
	const end = "{}}\n"
	for _, piece := range [][]byte{bytes.TrimSuffix(b, []byte(end)), long, []byte(end[2:])} {
		if _, err := w.w.Write(piece); err != nil {
			return err
		}
	}
	return nil
}

// Blob writes a blob, which must come before the events that name it. The error wraps
// [skein.ErrInvalid] if it is longer than [MaxBlob], or is that of the underlying
// writer.
func (w *Writer) Blob(b skein.Blob) error {
	if len(b.Data) > MaxBlob {
		return fmt.Errorf("blob %s: %d bytes, at most %d are allowed: %w", b.Hash, len(b.Data), MaxBlob, skein.ErrInvalid)
	}
	for at := 0; at == 0 || at < len(b.Data); at += chunk {
		if err := w.line(appendPiece(w.buf[:0], b.Hash, b.Data, at)); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) line(b []byte) error {
	if cap(b) <= 4<<20 {
		w.buf = b
	}
	_, err := w.w.Write(b)
	return err
}

// WriteResult says what [Write] wrote.
type WriteResult struct {
	Events  int          // including those of the parent that a fork shows
	Blobs   int          // each counted once
	Missing []skein.Hash // blobs that events name and the store lacks, or has damaged
}

// Write writes the log of session id, as it is when Write begins, to w: its
// events, those of the parent that it shows, and the blobs that they name. If
// [lenient.Store] made the store, placeholders for damaged events are marked.
//
// The error wraps [skein.ErrNotFound] if there is no such session, or is that
// of the store or of w.
func Write(ctx context.Context, w io.Writer, s skein.Store, id skein.SessionID) (done WriteResult, err error) {
	defer skein.Wrapf(&err, "replay: write %s", id)
	damaged := map[skein.Seq]*skein.DamagedError{}
	s = lenient.AlsoTell(s, func(_ skein.SessionID, e *skein.DamagedError) { damaged[e.Seq] = e })
	sess, err := s.Session(ctx, id)
	if err != nil {
		return done, err
	}
	heads, err := parts(ctx, s, &sess)
	if err != nil {
		return done, err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	j := writeCall{store: s, w: NewWriter(out), id: id, blobs: map[skein.Hash]bool{}, damaged: damaged}
	for e, err := range s.Events(ctx, id, 0) {
		if err != nil {
			return j.done, err
		}
		if e.Seq > sess.Last {
			break
		}
		if len(heads) > 0 && heads[0].First == e.Seq {
			if err := j.w.Begin(heads[0]); err != nil {
				return j.done, err
			}
			heads = heads[1:]
		}
		if err := j.event(ctx, withParent(e, &sess)); err != nil {
			return j.done, err
		}
	}
	if n := skein.Seq(j.done.Events); n != sess.Last {
		return j.done, fmt.Errorf("%d events of %d: %w", n, sess.Last, skein.ErrCorrupt)
	}
	return j.done, out.Flush()
}

// parts returns the heads of what session s shows, its own last. They are
// computed from the created events, for a parent may be deleted.
func parts(ctx context.Context, s skein.Store, sess *skein.Session) (heads []Header, err error) {
	first := skein.Seq(1)
	if p := sess.Parent; p.IsFork() {
		for e, err := range s.Events(ctx, sess.ID, 0) {
			if err != nil {
				return nil, err
			}
			if e.Seq > p.Seq+1 {
				break
			}
			if e.Kind != skein.KindCreated || e.Seq == 1 {
				continue
			}
			c, err := skein.Decode[skein.Created](withParent(e, sess))
			if err != nil {
				return nil, err
			}
			if c.Parent == nil {
				return nil, fmt.Errorf("event %d is created and names no parent: %w", e.Seq, skein.ErrCorrupt)
			}
			heads = append(heads, Header{Session: c.Parent.Session, First: first, Last: e.Seq - 1, For: sess.ID})
			first = e.Seq
		}
	}
	return append(heads, Header{Session: sess.ID, First: first, Last: sess.Last}), nil
}

// withParent returns e or, if e is a placeholder of the created event of the fork
// sess, one that names the parent.
func withParent(e skein.Event, sess *skein.Session) skein.Event {
	p := sess.Parent
	if e.Kind != skein.KindCreated || !p.IsFork() || e.Seq != p.Seq+1 {
		return e
	}
	c, err := skein.Decode[skein.Created](e)
	if err != nil || c.Parent != nil {
		return e
	}
	c.Parent = p
	e.Payload = skein.MustJSON(c)
	return e
}

// writeCall is one call of Write.
type writeCall struct {
	store skein.Store
	w     *Writer
	id    skein.SessionID
	blobs map[skein.Hash]bool // those already looked up
	done  WriteResult

	damaged map[skein.Seq]*skein.DamagedError // events that are not read as they were stored
}

func (j *writeCall) event(ctx context.Context, e skein.Event) error {
	f, err := skein.FactsOf(e)
	if err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	hashes := f.Blobs
	if f.Amended != nil && len(f.Amended.Payload) > 0 {
		// An event of another kind than a message names no blobs.
		if now, err := skein.FactsOf(skein.Event{Kind: skein.KindSaid, Payload: f.Amended.Payload}); err == nil {
			hashes = now.Blobs
		}
	}
	for _, h := range hashes {
		if err := j.blob(ctx, h); err != nil {
			return err
		}
	}
	j.done.Events++
	if bad := j.damaged[e.Seq]; bad != nil {
		return j.w.WritePlaceholder(e, bad.Error())
	}
	if e.IsPlaceholder() { // another store could not read it
		return j.w.WritePlaceholder(e, fmt.Sprintf("event %d is damaged", e.Seq))
	}
	return j.w.Event(e)
}

func (j *writeCall) blob(ctx context.Context, h skein.Hash) error {
	if j.blobs[h] {
		return nil
	}
	j.blobs[h] = true
	data, err := j.store.Blob(ctx, j.id, h)
	switch {
	case errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrCorrupt), err == nil && len(data) > MaxBlob:
		j.done.Missing = append(j.done.Missing, h)
		return nil
	case err != nil:
		return err
	}
	j.done.Blobs++
	return j.w.Blob(skein.Blob{Hash: h, Data: data})
}
