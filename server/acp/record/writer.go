package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/recording"
	"github.com/skein-dev/skein/internal/sleep"
)

const (
	mostWaiting = 8 << 20 // bytes of events that may wait for the disk
	mostEvents  = 256     // events that are appended at a time: other writers get their turn
	attempts    = 8       // of an append, before those who wait for it are told
)

// A Writer appends the events of one session in the background, in order. All methods
// may be called from several goroutines.
type Writer struct {
	store  skein.Store
	id     skein.SessionID
	lease  skein.Lease
	prefix string

	mu      sync.Mutex
	changed sync.Cond
	waiting []skein.Event
	blobs   []skein.Blob
	bytes   int
	added   int    // events ever added
	stored  int    // how many of them are stored
	inner   string // what the agent calls the session
	unnamed bool   // the store does not know that yet
	last    skein.Seq
	err     error     // of the newest append; nil if it succeeded
	failed  int       // appends in a row that failed
	final   bool      // the store will never accept more
	mark    int       // how many events were added when Mark was called last
	base    skein.Seq // of the last of those of the newest mark that is known
	closed  bool
	done    chan struct{}
}

// NewWriter returns a writer of session id, whose lease it takes before it appends
// anything, and releases when it is closed. The first event of a session that has not
// begun must be its created event.
func NewWriter(store skein.Store, id skein.SessionID, r skein.LeaseRequest) *Writer {
	w := &Writer{store: store, id: id, prefix: recording.ClientIDs + string(skein.NewSessionID(time.Now())), done: make(chan struct{})}
	w.changed.L = &w.mu
	go w.run(r)
	return w
}

// Add appends events some time later. It waits only if much waits already.
func (w *Writer) Add(blobs []skein.Blob, events ...skein.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.bytes > mostWaiting && !w.final && !w.closed {
		w.changed.Wait()
	}
	if w.final || w.closed {
		return
	}
	for i := range events {
		w.added++
		if events[i].ClientID == "" {
			events[i].ClientID = skein.ClientID(fmt.Sprintf("%s-%d", w.prefix, w.added))
		}
		w.bytes += len(events[i].Payload)
	}
	for _, b := range blobs {
		w.bytes += len(b.Data)
	}
	w.waiting, w.blobs = append(w.waiting, events...), append(w.blobs, blobs...)
	w.changed.Broadcast()
}

// Named says what the agent calls the session, so that its own file of it is not taken
// for another one. It is stored after the next events.
func (w *Writer) Named(inner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if inner != "" && inner != w.inner {
		w.inner, w.unnamed = inner, true
		w.changed.Broadcast()
	}
}

// Last returns the seq of the session's last event that this writer knows of.
func (w *Writer) Last() skein.Seq {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Mark remembers where the recording is; see [Writer.Base].
func (w *Writer) Mark() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mark = w.added; w.mark == w.stored {
		w.base = w.last
	}
}

// Base returns the seq of the last event before the newest Mark, or before an older one
// if that is not stored yet; 0 if there is none.
func (w *Writer) Base() skein.Seq {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.base
}

// From says which event of the session is the last one before this recording.
func (w *Writer) From(last skein.Seq) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stored == 0 {
		w.last, w.base = last, last
	}
}

// Flush waits until everything that was added is stored.
//
// The error wraps [skein.ErrFenced] if the session was taken over; else it is the
// store's, after several attempts. What was not stored is tried again.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	until := w.added
	for failed := w.failed; w.stored < until || w.names(); w.changed.Wait() {
		if w.final || w.failed >= failed+attempts {
			return w.err
		}
		failed = min(failed, w.failed)
	}
	return nil
}

// Close stores what waits, and ends the writer. Errors as Flush.
func (w *Writer) Close() error {
	err := w.Flush()
	w.mu.Lock()
	w.closed = true
	w.changed.Broadcast()
	w.mu.Unlock()
	<-w.done
	return err
}

func (w *Writer) run(r skein.LeaseRequest) {
	defer close(w.done)
	leases := skein.LeasesOf(w.store)
	lease, err := leases.Acquire(context.Background(), w.id, r)
	if err != nil {
		w.refuse(err)
		return
	}
	defer func() { _ = leases.Release(context.Background(), lease) }() // it ends with this process in any case
	w.mu.Lock()
	w.lease = lease
	w.changed.Broadcast()
	w.mu.Unlock()
	for {
		b, ok := w.next()
		if !ok {
			return
		}
		r, err := w.store.Append(context.Background(), b) // what was said was said
		if err == nil {
			w.put(&b, r[0])
			continue
		}
		if !w.fail(err) {
			return
		}
		_ = sleep.For(context.Background(), 100*time.Millisecond) // it never ends early
	}
}

// next waits for events, and returns a batch of the first of them.
func (w *Writer) next() (skein.Batch, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) == 0 && !w.names() && !w.closed {
		w.changed.Wait()
	}
	if w.names() && !w.final {
		return skein.Batch{Session: w.id, Import: &skein.Import{File: recording.File(w.inner, w.id)}}, true
	}
	if w.final || len(w.waiting) == 0 {
		return skein.Batch{}, false
	}
	n := min(len(w.waiting), mostEvents)
	b := skein.Batch{Session: w.id, Fence: w.lease.Fence, Events: slices.Clone(w.waiting[:n]), Blobs: w.blobs}
	if b.Events[0].Kind == skein.KindCreated {
		b.After = skein.Fresh
	}
	return b, true
}

// names reports whether what the agent calls the session can be stored now; the caller
// holds w.mu.
func (w *Writer) names() bool { return w.unnamed && w.stored > 0 }

// put notes that a batch is stored.
func (w *Writer) put(b *skein.Batch, r skein.Receipt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.Import != nil {
		w.unnamed, w.err, w.failed = b.Import.File.ID != w.inner, nil, 0
		w.changed.Broadcast()
		return
	}
	n := len(b.Events)
	w.waiting = slices.Delete(w.waiting, 0, n)
	if at := w.mark - w.stored; at > 0 && at <= n {
		w.base = r.Seqs[at-1]
	}
	w.stored, w.last, w.err, w.failed = w.stored+n, r.Last, nil, 0
	if len(w.waiting) == 0 {
		w.blobs = nil
	}
	w.bytes = 0
	for i := range w.waiting {
		w.bytes += len(w.waiting[i].Payload)
	}
	for _, b := range w.blobs {
		w.bytes += len(b.Data)
	}
	w.changed.Broadcast()
}

// refuse notes that nothing will be stored.
func (w *Writer) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err, w.final = err, true
	w.changed.Broadcast()
}

// Held waits until the writer has the session's lease.
//
// The error wraps [skein.ErrLocked] (as a *[skein.LockedError]) if another has it.
func (w *Writer) Held() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.lease.Fence == 0 && !w.final {
		w.changed.Wait()
	}
	if w.final {
		return w.err
	}
	return nil
}

// fail notes that an append failed, and reports whether it can be tried again.
func (w *Writer) fail(err error) (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
	w.failed++
	for _, never := range []error{skein.ErrFenced, skein.ErrLocked, skein.ErrInvalid, skein.ErrMismatch, skein.ErrDeleted, skein.ErrNotFound, skein.ErrExists, skein.ErrConflict, skein.ErrClosed} {
		w.final = w.final || errors.Is(err, never)
	}
	w.changed.Broadcast()
	return !w.final && !(w.closed && w.failed >= attempts)
}
