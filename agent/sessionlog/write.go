package sessionlog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// Logs writes the logs of the sessions that this process runs. A nil *Logs
// writes none. It is safe for concurrent use.
//
// A log that cannot be written does not affect the session: its lines are added
// from the store later.
type Logs struct {
	dir   string
	store skein.Store // without errors for damage
	exact skein.Store // with them

	mu   sync.Mutex
	open map[skein.SessionID]*writer
}

// New returns Logs that writes the sessions of s below the folder dir, which
// need not exist.
func New(dir string, s skein.Store) *Logs {
	return &Logs{dir: dir, store: lenient.Store(s, nil), exact: s, open: map[skein.SessionID]*writer{}}
}

// Append adds the lines of events, which were stored in session id. It must be
// given all events of a session that this process appends; it finds those of
// other processes by itself. If something is wrong with the log, it repairs
// that first.
//
// The error is the file system's or the store's.
func (l *Logs) Append(ctx context.Context, id skein.SessionID, events ...skein.Event) (err error) {
	if l == nil || len(events) == 0 {
		return nil
	}
	defer skein.Wrapf(&err, "log of %s: append", id)
	w := l.writer(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.append(ctx, events)
}

// Mend repairs the log of session id if it is not what it should be. It reads
// only the end of the log, from the newest turn on. The caller must hold the
// session's lease.
//
// The error wraps [skein.ErrNotFound] if there is no such session, or is the
// file system's or the store's.
func (l *Logs) Mend(ctx context.Context, id skein.SessionID) (err error) {
	if l == nil {
		return nil
	}
	defer skein.Wrapf(&err, "log of %s: repair", id)
	w := l.writer(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mend(ctx)
}

// writer returns the writer of session id.
func (l *Logs) writer(id skein.SessionID) *writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.open[id]
	if w == nil {
		w = &writer{dir: l.dir, store: l.store, id: id}
		l.open[id] = w
	}
	return w
}

// A writer writes the log of one session.
type writer struct {
	dir   string
	store skein.Store
	id    skein.SessionID

	mu    sync.Mutex
	sound bool // the fields below are valid, and the file was as they say
	user  skein.User
	path  string
	size  int64     // of the file; 0 if there is none
	last  skein.Seq // last event in the file
	lines *Encoder
}

func (w *writer) append(ctx context.Context, events []skein.Event) (err error) {
	if !w.sound {
		return w.mend(ctx)
	}
	if !w.follows(events) { // other processes have appended too
		if events, err = w.since(ctx); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(events, renews) {
		return w.mend(ctx)
	}
	var b []byte
	last := w.last
	for _, e := range events {
		if e.Seq <= w.last {
			continue
		}
		b, last = w.lines.Append(b, e), e.Seq
	}
	w.sound = false
	if err := w.write(b); err != nil {
		if errors.Is(err, errChanged) {
			return w.mend(ctx)
		}
		return err
	}
	w.last, w.sound = last, true
	return nil
}

// follows reports whether no event is missing before any of events.
func (w *writer) follows(events []skein.Event) bool {
	next := w.last + 1
	for _, e := range events {
		if e.Seq > next {
			return false
		}
		next = max(next, e.Seq+1)
	}
	return true
}

// since returns the events that are not in the file.
func (w *writer) since(ctx context.Context) (events []skein.Event, err error) {
	for e, err := range w.store.Events(ctx, w.id, w.last) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}

// renews reports whether e requires the log to be rewritten.
func renews(e skein.Event) bool {
	if e.Kind != skein.KindNoted {
		return false
	}
	n, err := skein.Decode[skein.Noted](e)
	return err == nil && (n.Name == Cleared || n.Name == "scrubbed")
}

// cleared reports whether the log is empty after e.
func cleared(e skein.Event) bool {
	if e.Kind != skein.KindNoted {
		return false
	}
	n, err := skein.Decode[skein.Noted](e)
	return err == nil && n.Name == Cleared
}

// errChanged says that another process changed the file.
var errChanged = errors.New("changed by another program")

// write adds b to the file, which must be unchanged since the last write.
func (w *writer) write(b []byte) (err error) {
	if len(b) == 0 {
		return nil
	}
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) && w.size == 0 {
		if _, err = makeFolder(w.dir, w.user); err == nil {
			f, err = os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist):
		return errChanged
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch now, err := f.Stat(); {
	case err != nil:
		return err
	case now.Size() != w.size:
		return errChanged
	}
	n, err := f.Write(b)
	w.size += int64(n)
	return err
}
