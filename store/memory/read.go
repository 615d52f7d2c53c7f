package memory

import (
	"context"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
)

// Session implements [skein.Store].
func (s reads) Session(ctx context.Context, id skein.SessionID) (_ skein.Session, err error) {
	defer skein.Wrapf(&err, "memory: session")
	if err := s.enter(ctx); err != nil {
		return skein.Session{}, err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil {
		return skein.Session{}, err
	}
	return s.row(sess), nil
}

// row returns the head of sess with the holder of its lease.
func (v *view) row(sess *session) skein.Session {
	h := sess.head.Session
	if l := v.newestLease[h.ID]; l.live() {
		h.LockedBy = l.Holder.String()
	}
	return h
}

// Sessions implements [skein.Store].
func (s reads) Sessions(ctx context.Context, f skein.Filter) iter.Seq2[skein.Session, error] {
	return func(yield func(skein.Session, error) bool) {
		rows, err := s.rows(ctx, f)
		each(rows, err, "memory: sessions", yield)
	}
}

func (s reads) rows(ctx context.Context, f skein.Filter) (rows []skein.Session, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	up := s.sessions[f.Parent]
	for _, sess := range s.sessions {
		h := &sess.head.Session
		if up != nil && s.sees(up.head.User) && h.User != up.head.User {
			continue
		}
		if s.sees(h.User) && f.Fits(h) && (f.Before == nil || f.Before.Compare(h) < 0) && (f.LargerThan == 0 || s.size(sess) > f.LargerThan) {
			rows = append(rows, s.row(sess))
		}
	}
	slices.SortFunc(rows, func(a, b skein.Session) int { return a.Compare(&b) })
	if f.Limit > 0 && len(rows) > f.Limit {
		rows = rows[:f.Limit]
	}
	return rows, nil
}

// Events implements [skein.Store].
func (s reads) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		_, evs, _, err := s.events(ctx, id, after)
		each(evs, err, "memory: events", yield)
	}
}

// events returns the events that session id shows after a seq, and a channel that is
// closed when anything changes.
func (s reads) events(ctx context.Context, id skein.SessionID, after skein.Seq) (*session, []skein.Event, <-chan struct{}, error) {
	if err := s.enter(ctx); err != nil {
		return nil, nil, nil, err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil {
		return nil, nil, nil, err
	}
	var evs []skein.Event
	for e := range sess.shown(sess.head.Last) {
		if e.Seq > after {
			evs = append(evs, e.Event)
		}
	}
	return sess, evs, s.changed, nil
}

// Newest implements [skein.Store]. It builds all messages and returns the last ones:
// it is simple, not fast.
func (s reads) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) (_ []skein.Entry, err error) {
	defer skein.Wrapf(&err, "memory: newest messages")
	_, evs, _, err := s.events(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		return nil, err
	}
	if before != 0 {
		entries = slices.DeleteFunc(entries, func(e skein.Entry) bool { return e.Seq >= before })
	}
	return entries[max(0, len(entries)-max(n, 0)):], nil
}

// Size implements [skein.Lifecycle].
func (s reads) Size(ctx context.Context, id skein.SessionID) (_ int64, err error) {
	defer skein.Wrapf(&err, "memory: size")
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil {
		return 0, err
	}
	return s.size(sess), nil
}

func (d *data) size(sess *session) (n int64) {
	for i := range sess.own {
		e := &sess.own[i]
		n += e.size()
		for _, h := range e.blobs() {
			n += int64(len(d.blobs[blobKey{sess.head.User, h}].data))
		}
	}
	for k, f := range d.files {
		if f.is(k, &sess.head.Session) {
			for _, r := range f.records {
				n += int64(len(r.Raw))
			}
		}
	}
	return n
}

// each yields all, or err prefixed with what.
func each[T any](all []T, err error, what string, yield func(T, error) bool) {
	if err != nil {
		skein.Wrapf(&err, "%s", what)
		var none T
		yield(none, err)
		return
	}
	for _, v := range all {
		if !yield(v, nil) {
			return
		}
	}
}
