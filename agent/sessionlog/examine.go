package sessionlog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

const area = "logs"

// Examine compares the logs with what is in the store, line by line. With
// x.Repair, logs that differ are repaired, unless another program works on the
// session, and logs of deleted sessions are removed. Sessions whose events are
// damaged are left out: the store's own examination reports them. If any log
// agrees, a finding says how many do.
//
// It yields at most one error, last: the file system's or the store's.
func (l *Logs) Examine(ctx context.Context, x inspect.Examination) iter.Seq2[inspect.Finding, error] {
	return func(yield func(inspect.Finding, error) bool) {
		e := examiner{Logs: l, repair: x.Repair, seen: map[skein.SessionID]bool{}, yield: yield}
		if err := e.run(ctx); err != nil && !errors.Is(err, errStop) {
			yield(inspect.Finding{}, fmt.Errorf("logs: examine: %w", err))
		}
	}
}

type examiner struct {
	*Logs
	repair bool
	seen   map[skein.SessionID]bool
	whole  int
	yield  func(inspect.Finding, error) bool
}

func (x *examiner) run(ctx context.Context) error {
	for path, err := range logs(x.dir) {
		if err != nil {
			return err
		}
		if err := x.file(ctx, path); err != nil {
			return err
		}
	}
	if err := x.lost(ctx); err != nil {
		return err
	}
	text := fmt.Sprintf("%d agree with the store", x.whole)
	if x.whole > 0 && !x.yield(inspect.Finding{Area: area, Level: inspect.Fine, Text: text}, nil) {
		return errStop
	}
	return nil
}

// tell yields a warning, and calls mend if repairs are requested.
func (x *examiner) tell(id skein.SessionID, text string, mend func() error) error {
	f := inspect.Finding{Area: area, Level: inspect.Warning, Text: text, Session: id, Mendable: mend != nil}
	if x.repair && mend != nil {
		switch err := mend(); {
		case err == nil:
			f.Mended, f.Mendable = true, false
		case errors.Is(err, skein.ErrLocked):
			f.Text += "; the program that is working on the session will repair it"
		default:
			return err
		}
	}
	if !x.yield(f, nil) {
		return errStop
	}
	return nil
}

// file examines one log.
func (x *examiner) file(ctx context.Context, path string) error {
	id, ok, err := sessionOf(path)
	if err != nil {
		return err
	}
	if !ok {
		return x.tell("", fmt.Sprintf("%s is not the log of a session", path), nil)
	}
	s, err := x.store.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return x.strange(ctx, path, id)
	}
	if err != nil {
		return err
	}
	if should, err := Path(x.dir, s.User, id); err != nil || should != path {
		return errors.Join(err, x.tell(id, fmt.Sprintf("%s should be %s", path, should), nil))
	}
	x.seen[id] = true
	return x.compare(ctx, s, path)
}

// strange reports the log of a session that the store does not have.
func (x *examiner) strange(ctx context.Context, path string, id skein.SessionID) error {
	dead, err := deleted(ctx, x.store, id)
	switch {
	case err != nil:
		return err
	case dead:
		return x.tell(id, "was deleted, but its log was not", func() error { return gone(os.Remove(path)) })
	}
	return x.tell(id, "has a log, but is not in this store", nil)
}

// compare reports how the log of s differs from what it should be.
func (x *examiner) compare(ctx context.Context, s skein.Session, path string) error {
	what, err := difference(ctx, x.exact, s, path)
	switch {
	case errors.Is(err, skein.ErrCorrupt):
		return nil // the log may be the only place that still has the text
	case err != nil:
		return err
	case what == "":
		x.whole++
		return nil
	}
	return x.tell(s.ID, what, func() error { return x.anew(ctx, s) })
}

// anew rewrites the log of s, unless another process works on s.
func (x *examiner) anew(ctx context.Context, s skein.Session) (err error) {
	lease, err := skein.LeasesOf(x.store).Acquire(ctx, s.ID, skein.LeaseRequest{Program: "skein doctor"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, skein.LeasesOf(x.store).Release(ctx, lease)) }()
	w := x.writer(s.ID)
	w.mu.Lock()
	defer w.mu.Unlock()
	s, err = w.find(ctx) // it may have continued meanwhile
	if err != nil {
		return err
	}
	return w.renew(ctx, s)
}

// Ran reports whether s should have a log: it was begun by skein, and a model
// has answered in it.
//
// Errors are the store's.
func Ran(ctx context.Context, st skein.Store, s skein.Session) (bool, error) {
	if s.Origin != nil || s.Usage.Requests == 0 {
		return false, nil
	}
	begun := false
	for e, err := range st.Events(ctx, s.ID, s.Base) {
		switch {
		case err != nil:
			return false, err
		case !begun:
			c, err := skein.Decode[skein.Created](e)
			if begun = err == nil && (c.Program == "skein" || strings.HasPrefix(c.Program, "skein ")); !begun {
				return false, nil
			}
		case answered(e):
			return true, nil
		}
	}
	return false, nil // the usage belongs to a deleted parent
}

// answered reports whether e is a request to a model or its answer.
func answered(e skein.Event) bool {
	if e.Kind != skein.KindSaid {
		return e.Kind == skein.KindStep
	}
	m, err := skein.Decode[skein.Message](e)
	return err == nil && m.Role == skein.RoleAssistant
}

// lost reports sessions that should have a log but do not.
func (x *examiner) lost(ctx context.Context) error {
	for _, bin := range []bool{false, true} {
		for s, err := range x.store.Sessions(ctx, skein.Filter{Bin: bin}) {
			if err != nil {
				return err
			}
			if x.seen[s.ID] {
				continue
			}
			ran, err := Ran(ctx, x.store, s)
			if err != nil && !errors.Is(err, skein.ErrCorrupt) {
				return err
			}
			if !ran {
				continue
			}
			path, err := Path(x.dir, s.User, s.ID)
			if err != nil {
				return err
			}
			if err := x.compare(ctx, s, path); err != nil {
				return err
			}
		}
	}
	return nil
}
