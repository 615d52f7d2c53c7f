package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/skein-dev/skein"
)

// Format is the name of the format, as in [skein.Origin].Format and
// [skein.SourceFile].Format.
const Format = "skein"

// Options say how to load a log.
type Options struct {
	// File is the file that holds the log: its Path (absolute), Size, Mtime
	// and Inode are stored, so that an import sees that it has not changed. An
	// empty Path means a stream.
	File skein.SourceFile

	Again bool // load sessions again that were deleted
}

// Loaded says what [Load] did.
type Loaded struct {
	Sessions []LoadedSession
	Damaged  int      // lines that could not be read, that are placeholders, or whose events are damaged in the store
	Damage   []string // what is wrong with the first hundred, with their line numbers
}

// A LoadedSession is what happened to one session of a log.
type LoadedSession struct {
	Session skein.SessionID
	Here    skein.SessionID // its ID in the store: differs if another user's session has its own
	For     skein.SessionID // the fork that shows its events, if it is in the log only for that
	Events  int             // that the log has of it
	New     int             // how many of them were appended
	Lacks   int             // events that the head promises and the log lacks
	Key     string          // its key, if another session already has it: it was loaded without
	Err     error           // why it, or the rest of it, was not loaded

	Messages int // that the new events begin
}

// Waits reports whether loading the same log once more may add something: a
// session, or the rest of one, was not loaded, but later ones were; one of them
// may be what it lacked, such as the parent of a fork.
func (d Loaded) Waits() bool {
	failed := false
	for _, s := range d.Sessions {
		if failed && s.New > 0 {
			return true
		}
		failed = failed || s.Err != nil && !errors.Is(s.Err, skein.ErrMismatch) && !errors.Is(s.Err, skein.ErrDeleted)
	}
	return false
}

// Load appends the sessions of the log r to s: existing sessions get the events
// that they lack. A session that cannot be loaded does not affect the others.
// What the log has of a parent only because a fork shows it is loaded only if the
// fork does not exist. A session that depends on something later in the log is not
// loaded: see [Loaded.Waits].
//
// The error joins those of the sessions. They wrap [skein.ErrMismatch] if the
// store has another event at a place, [skein.ErrDeleted] if the session was
// deleted, [skein.ErrCorrupt] if events are missing in the middle, or those of
// [skein.Store.Append]. If nothing more could be read, the error is that of
// [Read] or of ctx.
func Load(ctx context.Context, s skein.Store, r io.Reader, o Options) (done Loaded, err error) {
	defer skein.Wrapf(&err, "replay: load")
	l := loader{store: s, o: o, done: &done, names: names{s, map[skein.SessionID]skein.SessionID{}}}
	defer l.stop()
	for it, err := range Read(r) {
		if err == nil {
			err = l.item(ctx, it)
		}
		if err != nil {
			return done, errors.Join(err, l.end(ctx))
		}
	}
	if err := l.end(ctx); err != nil {
		return done, err
	}
	var errs []error
	for _, s := range done.Sessions {
		errs = append(errs, s.Err)
	}
	return done, errors.Join(errs...)
}

// loader is one call of Load.
type loader struct {
	store skein.Store
	o     Options
	done  *Loaded
	names names
	cur   *session // nil before the first head
}

// item handles a line. The error ends the load.
func (l *loader) item(ctx context.Context, it LogItem) error {
	switch {
	case it.Damage != "":
		l.damage(it.Line, it.Damage)
		return nil
	case it.Head != nil:
		if err := l.end(ctx); err != nil {
			return err
		}
		return l.begin(ctx, *it.Head)
	case l.cur.failed():
		return nil
	case it.Blob != nil:
		l.cur.blobs = append(l.cur.blobs, *it.Blob)
		l.cur.size += len(it.Blob.Data)
		return nil
	}
	if it.StandIn != "" {
		l.damage(it.Line, "where the log was written, "+it.StandIn)
	}
	l.cur.result.Events++
	err := l.cur.event(ctx, it)
	if l.cur.lacks {
		l.damage(it.Line, fmt.Sprintf("event %d is damaged here, and stays so, as no event is ever changed; to have it as it is in this file: skein rm %s --purge, then import the file with --again", it.Event.Seq, l.cur.id))
	}
	if err == nil && l.cur.full() {
		err = l.cur.flush(ctx)
	}
	return l.settle(ctx, err)
}

// damage notes what is wrong with a line.
func (l *loader) damage(line int, what string) {
	if l.done.Damaged++; len(l.done.Damage) < 100 {
		l.done.Damage = append(l.done.Damage, fmt.Sprintf("line %d: %s", line, what))
	}
}

// settle keeps err for the session, as it may not affect the next one. It returns
// only ctx's.
func (l *loader) settle(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	l.cur.result.Err = fmt.Errorf("session %s: %w", l.cur.head.Session, err)
	return nil
}

// begin starts with the session of h.
func (l *loader) begin(ctx context.Context, h Header) error {
	l.cur = &session{head: h, id: h.Session, store: l.store, names: l.names, o: l.o, next: h.First, result: LoadedSession{Session: h.Session, For: h.For}}
	return l.settle(ctx, l.cur.begin(ctx))
}

// end stores what is left of the current session and reports it.
func (l *loader) end(ctx context.Context) error {
	if l.cur == nil {
		return nil
	}
	c := l.cur
	before := c.result.Err
	err := l.settle(ctx, c.flush(ctx)) // also what came before an error
	if err == nil && c.result.Err == nil && c.result.New == 0 && c.begun && !c.reading {
		err = l.settle(ctx, c.remember(ctx))
	}
	if before != nil {
		c.result.Err = before
	}
	if c.result.Err == nil && c.head.Last >= c.next {
		c.result.Lacks = int(c.head.Last - c.next + 1)
	}
	l.stop()
	c.result.Here = c.id
	l.done.Sessions = append(l.done.Sessions, c.result)
	l.cur = nil
	return err
}

func (l *loader) stop() {
	if l.cur != nil && l.cur.stop != nil {
		l.cur.stop()
	}
}
