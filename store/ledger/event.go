package ledger

import (
	"crypto/sha256"
	"fmt"

	"github.com/skein-dev/skein"
)

// MaxState is the most bytes that a source file's State may have.
const MaxState = 1 << 20

// A View says whose sessions a store shows: one user's, or all users' if it is "".
type View skein.User

// Sees reports whether v shows the sessions of u.
func (v View) Sees(u skein.User) bool { return v == "" || skein.User(v) == u }

// Owner returns the owner of what is written through v without naming a user.
func (v View) Owner() skein.User {
	if v == "" {
		return skein.Local
	}
	return skein.User(v)
}

// An Event is an event of a batch with what can be computed of it without a store.
type Event struct {
	skein.Event
	Facts skein.Facts
	Hash  []byte // of its content, see [Hash]; nil without a client ID
}

// Unread returns e without its facts.
func Unread(e skein.Event) Event {
	x := Event{Event: e}
	if e.ClientID != "" {
		x.Hash = Hash(e)
	}
	return x
}

// Hash returns 16 bytes that are equal if two events with the same client ID have
// the same content.
func Hash(e skein.Event) []byte {
	h := sha256.New()
	h.Write([]byte(e.Kind))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return h.Sum(nil)[:16]
}

// Read returns e with its facts, as it is written through v: a created event
// names its user.
//
// The error wraps [skein.ErrInvalid]: it is one of [skein.FactsOf], or the event
// begins a session of a user whose sessions v does not show.
func (v View) Read(e skein.Event) (x Event, err error) {
	x = Unread(e)
	if x.Facts, err = skein.FactsOf(e); err != nil || x.Facts.Created == nil {
		return x, err
	}
	c := *x.Facts.Created
	if c.User == "" {
		c.User = v.Owner()
	}
	if !v.Sees(c.User) {
		return x, fmt.Errorf("%w created event: user %q: the store is a view of user %q", skein.ErrInvalid, c.User, string(v))
	}
	x.Facts.Created = &c
	return x, nil
}

// Check refuses a batch that is wrong regardless of what the store has. It does not
// check the events and blobs themselves.
//
// The error wraps [skein.ErrInvalid].
func Check(b *skein.Batch) error {
	fileOnly := b.Session == "" && len(b.Events) == 0 && b.Import != nil && b.Import.File.Session == ""
	if err := b.Session.Check(); err != nil && !fileOnly {
		return err
	}
	switch {
	case len(b.Events) == 0 && b.Import == nil:
		return fmt.Errorf("%w batch for session %s: no events", skein.ErrInvalid, b.Session)
	case b.After < skein.Fresh:
		return fmt.Errorf("%w batch for session %s: after %d", skein.ErrInvalid, b.Session, b.After)
	case b.Fence < 0:
		return fmt.Errorf("%w batch for session %s: fence %d", skein.ErrInvalid, b.Session, b.Fence)
	case b.Import != nil:
		return checkImport(b.Import)
	}
	return nil
}

func checkImport(im *skein.Import) error {
	f := &im.File
	switch {
	case f.Format == "" || f.Path == "":
		return fmt.Errorf("%w import: format %q, path %q", skein.ErrInvalid, f.Format, f.Path)
	case len(f.State) > MaxState:
		return fmt.Errorf("%w import of %s: state of %d bytes, at most %d are allowed", skein.ErrInvalid, f.Path, len(f.State), MaxState)
	}
	for i, r := range im.Records {
		if r.N != im.Records[0].N+i || r.N < 0 {
			return fmt.Errorf("%w import of %s: record %d at place %d", skein.ErrInvalid, f.Path, r.N, i)
		}
	}
	return nil
}

// FirstRecord returns the number of the first record of im, which is to be written
// to a file whose records before have the store has.
//
// The error wraps [skein.ErrInvalid] if there would be a gap.
func FirstRecord(im *skein.Import, have int) (first int, err error) {
	if len(im.Records) > 0 {
		first = im.Records[0].N
	}
	if first > have {
		return 0, fmt.Errorf("%w import of %s: record %d follows %d records", skein.ErrInvalid, im.File.Path, first, have)
	}
	return first, nil
}
