package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// Bounds of a batch, so that other writers of the store never wait long.
const (
	maxEvents = 256
	maxBytes  = 1 << 20
)

// session is a session of a log while it is loaded: first its events are
// compared with those that the store has, then the rest is appended.
type session struct {
	head   Header
	id     skein.SessionID // in the store
	store  skein.Store
	names  names
	o      Options
	next   skein.Seq // place of the next event
	result LoadedSession

	begun   bool // the store has it
	reading bool // no event of it may be appended: it is only in the log for a fork that exists
	lacks   bool // the store has only a placeholder of the log's last event
	stored  func() (skein.Event, error, bool)
	stop    func()

	events []skein.Event
	blobs  []skein.Blob
	size   int // bytes of both
}

func (s *session) begin(ctx context.Context) error {
	if s.head.First < 1 {
		return fmt.Errorf("its first event is %d: %w", s.head.First, skein.ErrInvalid)
	}
	if s.head.For != "" {
		if found, err := s.compareAs(ctx, s.head.For); err != nil || found {
			s.reading = found
			return err
		}
		if err := s.deleted(ctx, s.head.For); err != nil {
			return err
		}
	}
	found, err := s.compareAs(ctx, s.head.Session)
	s.begun = found
	return err
}

// compareAs finds the ID that a session of the log has, or gets, here, and compares
// the events with those that it has.
func (s *session) compareAs(ctx context.Context, id skein.SessionID) (found bool, err error) {
	if s.id, err = s.names.of(ctx, id); err != nil {
		return false, err
	}
	return s.compareWith(ctx, s.id)
}

// deleted returns an error wrapping ErrDeleted if session id, which does not exist,
// has a tombstone: then its parent need not be loaded either. A store checks this
// before it refuses an event that cannot be a session's first.
func (s *session) deleted(ctx context.Context, id skein.SessionID) error {
	if s.o.Again {
		return nil
	}
	probe := skein.NewEvent(skein.KindNoted, 0, skein.Noted{Name: "probe"})
	_, err := s.store.Append(ctx, skein.Batch{Session: id, After: skein.Fresh, Events: []skein.Event{probe}})
	if errors.Is(err, skein.ErrNotFound) {
		return nil
	}
	return err
}

// compareWith sets the events to compare the log's with to those of session id, from
// the head's first on, and reports whether the session exists.
func (s *session) compareWith(ctx context.Context, id skein.SessionID) (bool, error) {
	if err := id.Check(); err != nil {
		return false, err
	}
	if _, err := s.store.Session(ctx, id); err != nil {
		if errors.Is(err, skein.ErrNotFound) {
			return false, nil
		}
		return false, err
	}
	s.stored, s.stop = iter.Pull2(lenient.Store(s.store, nil).Events(ctx, id, s.head.First-1))
	return true, nil
}

// event handles it, which holds the next event.
func (s *session) event(ctx context.Context, it LogItem) error {
	e := *it.Event
	if e.Seq != s.next {
		return fmt.Errorf("event %d follows event %d: %w", e.Seq, s.next-1, skein.ErrCorrupt)
	}
	s.next++
	s.lacks = false
	e, err := s.names.in(ctx, e)
	if err != nil {
		return err
	}
	if s.stored != nil {
		had, err, ok := s.stored()
		switch {
		case err != nil:
			return err
		case ok:
			s.blobs, s.size = nil, 0
			if s.lacks = had.IsPlaceholder() && it.StandIn == ""; s.lacks || it.StandIn != "" {
				return nil // one of them is a placeholder
			}
			return same(had, e)
		case s.reading:
			return fmt.Errorf("event %d: session %s does not show it: %w", e.Seq, s.head.For, skein.ErrMismatch)
		}
		s.stop()
		s.stored = nil
	}
	if err := s.checkPlace(e); err != nil {
		return err
	}
	if e, err = s.freeKey(ctx, e); err != nil {
		return err
	}
	s.events = append(s.events, e)
	s.size += len(e.Payload)
	return nil
}

// same compares what the store has with what the log has.
func same(had, e skein.Event) error {
	if had.Kind == e.Kind && had.ClientID == e.ClientID {
		if bytes.Equal(had.Payload, e.Payload) {
			return nil
		}
		if without, key := withoutKey(e); key != "" && bytes.Equal(had.Payload, without) {
			return nil
		}
	}
	return fmt.Errorf("event %d of kind %q is another one than what is stored, of kind %q: %w", e.Seq, e.Kind, had.Kind, skein.ErrMismatch)
}

// checkPlace compares the seq of a created event with the one that it will get.
func (s *session) checkPlace(e skein.Event) error {
	if e.Kind != skein.KindCreated {
		return nil
	}
	c, err := skein.Decode[skein.Created](e)
	if err != nil {
		return err
	}
	want := skein.Seq(1)
	if c.Parent.IsFork() {
		want = c.Parent.Seq + 1
	}
	if e.Seq != want {
		return fmt.Errorf("event %d is created, which should be event %d: %w", e.Seq, want, skein.ErrCorrupt)
	}
	return nil
}

// freeKey returns e without its key if another session has that.
func (s *session) freeKey(ctx context.Context, e skein.Event) (skein.Event, error) {
	without, key := withoutKey(e)
	if key == "" {
		return e, nil
	}
	for other, err := range s.store.Sessions(ctx, skein.Filter{Key: key, IncludeEmpty: true}) {
		if err != nil {
			return e, err
		}
		if other.ID != s.id {
			e.Payload, s.result.Key = without, key
			break
		}
	}
	return e, nil
}

func (s *session) failed() bool { return s.result.Err != nil }

func (s *session) full() bool { return len(s.events) >= maxEvents || s.size >= maxBytes }

// flush appends the events handled so far.
func (s *session) flush(ctx context.Context) error {
	if len(s.events) == 0 {
		return nil
	}
	first := s.events[0].Seq
	b := skein.Batch{
		Session: s.id, After: first - 1, Events: s.events, Blobs: s.blobs, Again: s.o.Again,
		Import: &skein.Import{File: s.file()},
	}
	if !s.begun {
		b.After = skein.Fresh
	}
	s.events, s.blobs, s.size = nil, nil, 0
	r, err := s.store.Append(ctx, b)
	if err != nil {
		return err
	}
	for i, seq := range r[0].Seqs {
		if want := first + skein.Seq(i); seq != want {
			return fmt.Errorf("event %d got the place %d: %w", want, seq, skein.ErrCorrupt)
		}
	}
	s.result.New += r[0].New
	s.result.Messages += r[0].Messages
	s.begun = true
	return nil
}

// remember stores which file the session was loaded from if nothing in it was new, so
// that the file is known the next time.
func (s *session) remember(ctx context.Context) error {
	if s.o.File.Path == "" {
		return nil
	}
	_, err := s.store.Append(ctx, skein.Batch{Session: s.id, Import: &skein.Import{File: s.file()}})
	return err
}

// file returns what the store keeps about where the events came from.
func (s *session) file() skein.SourceFile {
	f := s.o.File
	f.Format, f.Session, f.ID = Format, s.id, string(s.head.Session)
	if f.Path == "" {
		f.Path = "stream of " + string(s.head.Session)
	}
	return f
}
