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
// writes none. Its methods may be called by many goroutines.
//
// That a log cannot be written takes nothing from the session: its lines are
// made again from the store when one can.
type Logs struct {
	dir   string
	store skein.Store

	mu   sync.Mutex
	open map[skein.SessionID]*writer
}

// New returns Logs that writes below the folder dir, which need not be there,
// what is in s.
func New(dir string, s skein.Store) *Logs {
	return &Logs{dir: dir, store: lenient.Store(s, nil), open: map[skein.SessionID]*writer{}}
}

// Append adds the lines of events, which session id has now. It is told of
// all events of a session that this process appends, and finds those of
// others by itself. What is wrong with the log, it mends first.
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

// Mend makes the log of session id what it should be, and does nothing where
// that is so. It looks at the end of the log only, from the newest turn on.
// It is for who holds the session's lease.
//
// The error wraps [skein.ErrNotFound] if there is no such session, or is the
// file system's or the store's.
func (l *Logs) Mend(ctx context.Context, id skein.SessionID) (err error) {
	if l == nil {
		return nil
	}
	defer skein.Wrapf(&err, "log of %s: mend", id)
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
	sound bool // the fields below are known, and the file was as they say
	user  skein.User
	path  string
	size  int64     // of the file; 0 if there is none
	last  skein.Seq // event up to which it goes
	lines *Lines
}

func (w *writer) append(ctx context.Context, events []skein.Event) (err error) {
	if !w.sound {
		return w.mend(ctx)
	}
	if !w.follows(events) { // others have appended too
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

// follows reports whether no event is missing before one of events.
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

// renews reports whether the log is another one after e.
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

// errChanged says that somebody else changed the file.
var errChanged = errors.New("changed by another")

// write adds b to the file, which must be as it was left.
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
