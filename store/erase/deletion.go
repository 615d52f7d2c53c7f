package erase

import (
	"fmt"

	"github.com/skein-dev/skein"
)

// A ChildRow is a session that a delegation of the session to be deleted started.
type ChildRow struct {
	ID     skein.SessionID
	Binned bool
}

// Valid returns an error that wraps [skein.ErrInvalid] if there is no such deletion as d.
func Valid(d skein.Deletion) error {
	switch d.Children {
	case "", skein.KeepChildren, skein.BinChildren, skein.RefuseChildren:
		return nil
	}
	return fmt.Errorf("%w deletion: children %q", skein.ErrInvalid, d.Children)
}

// Delete decides what becomes of the children of s, ordered by ID, when d deletes s: the
// store moves those in Binned of the result to the bin. The holder of a live lease on s
// is held, nil if there is none.
//
// The error wraps [skein.ErrInvalid] or [skein.ErrRefused], or is a
// [skein.LockedError] or [skein.ConflictError].
func Delete(s *skein.Session, d skein.Deletion, held *skein.Holder, children []ChildRow) (done skein.Deleted, err error) {
	if err := Valid(d); err != nil {
		return done, err
	}
	if held != nil {
		return done, &skein.LockedError{Session: s.ID, Holder: *held}
	}
	if err := d.Fits(s); err != nil {
		return done, err
	}
	if len(children) > 0 && d.Children == skein.RefuseChildren {
		return done, fmt.Errorf("session %s has %d children: %w", s.ID, len(children), skein.ErrRefused)
	}
	for _, c := range children {
		switch {
		case d.Children != skein.BinChildren:
			done.Children = append(done.Children, c.ID)
		case !c.Binned:
			done.Binned = append(done.Binned, c.ID)
		}
	}
	return done, nil
}

// WithoutKey returns the event that takes its key from a session that leaves the bin
// after another one has taken the key.
func WithoutKey(at skein.Time) skein.Event {
	none := ""
	return skein.NewEvent(skein.KindChanged, at, skein.Changed{Key: &none})
}
