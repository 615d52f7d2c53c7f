package skein

import (
	"errors"
	"fmt"
	"strings"
)

// The errors that a caller can do something about. Test for them with
// [errors.Is]; any other error comes from the disk, the network or a bug, and is
// for people to read.
var (
	ErrNotFound  = errors.New("not found")                            // no such session, file or blob (or not for this user)
	ErrExists    = errors.New("already exists")                       // a session with that ID, or a live one with that key
	ErrConflict  = errors.New("session has moved on")                 // Batch.After is not the last seq; see ConflictError
	ErrMismatch  = errors.New("client ID used for other content")     // same client ID, other content; nothing was changed
	ErrLocked    = errors.New("locked by another")                    // another holder has the lease; see LockedError
	ErrFenced    = errors.New("lease was taken over")                 // the fencing number is stale; see FencedError
	ErrDeleted   = errors.New("was deleted")                          // the ID has a tombstone
	ErrRefused   = errors.New("refused")                              // a rule the caller chose forbids it, such as RefuseChildren
	ErrAmbiguous = errors.New("names several sessions")               // see AmbiguousError
	ErrInvalid   = errors.New("invalid")                              // the caller's argument is wrong; retrying does not help
	ErrUnknown   = errors.New("outcome unknown")                      // it may or may not be stored; retry with the same client IDs
	ErrClosed    = errors.New("store is closed")                      // the store was closed
	ErrCorrupt   = errors.New("stored data is damaged")               // what is on disk cannot be what was written
	ErrNewer     = errors.New("written by a newer version")           // the store's schema is newer than this program
	ErrAway      = errors.New("store is unavailable")                 // its server is down or out of room, or a lock is not released; retrying later may work
	ErrReplaced  = errors.New("store's file was removed or replaced") // while it was open, or the log beside it belongs to another file
	ErrReadOnly  = errors.New("store is read-only")                   // the disk or the file's mode forbids writing
	ErrFull      = errors.New("disk is full")                         // no space left; nothing of the call was stored
)

// A ConflictError says where a session ends when an append expected it to end
// elsewhere. It wraps [ErrConflict].
type ConflictError struct {
	Session SessionID
	Last    Seq // the session's last seq now; 0 if it has not begun
}

// Error implements error.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %s has moved on: it ends at seq %d", e.Session, e.Last)
}

// Unwrap returns [ErrConflict].
func (e *ConflictError) Unwrap() error { return ErrConflict }

// A LockedError says who holds the lease of a session. It wraps [ErrLocked].
type LockedError struct {
	Session SessionID
	Holder  Holder
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("session is locked by %s", e.Holder)
}

// Unwrap returns [ErrLocked].
func (e *LockedError) Unwrap() error { return ErrLocked }

// A FencedError says of which session the lease was taken over. It wraps [ErrFenced].
type FencedError struct {
	Session SessionID
	Fence   Fence // the stale number
	Now     Fence // the session's number; 0 if not known
}

// Error implements error.
func (e *FencedError) Error() string {
	now := ""
	if e.Now > 0 {
		now = fmt.Sprintf(", now it is %d", e.Now)
	}
	return fmt.Sprintf("session %s: fence %d%s: %v", e.Session, e.Fence, now, ErrFenced)
}

// Unwrap returns [ErrFenced].
func (e *FencedError) Unwrap() error { return ErrFenced }

// A QuotaError says that a user would exceed a quota. It wraps [ErrFull].
type QuotaError struct {
	User User
	Of   string // sessions or bytes
	Most int64  // how many are allowed
}

// Error implements error.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("quota of user %q is used up: at most %d %s are allowed", e.User, e.Most, e.Of)
}

// Unwrap returns [ErrFull].
func (e *QuotaError) Unwrap() error { return ErrFull }

// An AmbiguousError says which sessions a name could mean. It wraps
// [ErrAmbiguous].
type AmbiguousError struct {
	Name       string
	Candidates []Session // two or more, latest first; at most [MaxCandidates]
	More       bool      // there are others
}

// Error implements error.
func (e *AmbiguousError) Error() string {
	n := fmt.Sprint(len(e.Candidates))
	if e.More {
		n = "more than " + n
	}
	return fmt.Sprintf("%q names %s sessions", e.Name, n)
}

// Unwrap returns [ErrAmbiguous].
func (e *AmbiguousError) Unwrap() error { return ErrAmbiguous }

// Wrapf prefixes *errp, if it is not nil. Deferred at the top of an exported
// function, it names the operation once for every return:
//
//	func (s *Store) Bin(ctx context.Context, id skein.SessionID) (err error) {
//		defer skein.Wrapf(&err, "sqlite: bin %s", id)
//
// The error has a method Act() string that returns the prefix, for callers that
// show people only the cause.
func Wrapf(errp *error, format string, args ...any) {
	if *errp != nil {
		*errp = &actError{fmt.Sprintf(format, args...), *errp}
	}
}

// An actError is an error with the name of the operation that failed.
type actError struct {
	act string
	err error
}

func (a *actError) Error() string { return a.act + ": " + a.err.Error() }
func (a *actError) Unwrap() error { return a.err }
func (a *actError) Act() string   { return a.act }

// Reason returns err in words for a person, here or at the other end of an API: the
// cause and what it is about, each once, without the call path through the
// packages of this module. err.Error() is the full text, for logs.
func Reason(err error) string {
	switch e := err.(type) { //nolint:errorlint // the tree of errors is walked here, node by node
	case interface{ Reason() string }: // it has words of its own for people
		return e.Reason()
	case interface {
		Act() string
		Unwrap() error
	}:
		return about(e.Act(), Reason(e.Unwrap()))
	case interface{ Unwrap() []error }:
		text := err.Error()
		for _, part := range e.Unwrap() {
			// This text is enough: what a database adds, such as a number, does not help.
			if (part == ErrFull || part == ErrReadOnly) && strings.HasPrefix(text, part.Error()+": ") { //nolint:errorlint // node by node
				return part.Error()
			}
			text = strings.Replace(text, part.Error(), Reason(part), 1)
		}
		return text
	case interface{ Unwrap() error }:
		part := e.Unwrap()
		if part == ErrInvalid { //nolint:errorlint // node by node
			return unlabeled(err.Error())
		}
		if part != nil {
			return strings.Replace(err.Error(), part.Error(), Reason(part), 1)
		}
	}
	return err.Error()
}

// unlabeled returns text without the word for [ErrInvalid] where it is a label of what
// follows: "invalid: no messages" says no more than "no messages", "invalid name" does.
func unlabeled(text string) string {
	label := ErrInvalid.Error() + ": "
	before, after, found := strings.Cut(text, label)
	if !found || before != "" && !strings.HasSuffix(before, ": ") {
		return text
	}
	return before + after
}

// about puts an act before why, if it names something that why does not. What a package
// of this module was doing ("sqlite: append to ID") is left out, unless the act was on a
// file or an address: a person knows what they asked for.
func about(act, why string) string {
	words := strings.Fields(act)
	if len(words) == 0 {
		return why
	}
	last := strings.Trim(words[len(words)-1], `"`)
	if place, rest, ok := strings.Cut(act, ": "); ok && strings.Trim(place, "abcdefghijklmnopqrstuvwxyz") == "" {
		if act = rest; !strings.ContainsAny(last, `/\`) {
			return why
		}
	}
	if len(words) == 1 || strings.Contains(why, last) { // one word is a package
		return why
	}
	return act + ": " + why
}

// Invalidf returns an error that wraps [ErrInvalid] and says what is wrong, as
// [fmt.Errorf] does. The error is never nil.
func Invalidf(format string, args ...any) error {
	return fmt.Errorf("%w %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// A DamagedError says which event of a session cannot be read as it was
// written. It wraps [ErrCorrupt] and Err. Time, Kind and Role are what could still
// be read.
type DamagedError struct {
	Seq  Seq
	Time Time
	Kind Kind // "" if it cannot be determined
	Role Role // of a said event; "" if it cannot be determined
	Err  error
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("event %d is damaged: %v", e.Seq, e.Err) }

// Unwrap returns [ErrCorrupt] and Err.
func (e *DamagedError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }

// ErrSum is wrapped by a [DamagedError] if the event could be read but is not what
// was stored.
var ErrSum = errors.New("its checksum does not match: it is not what was stored")

// NoteLost is the name of the note that replaces an event that could not be
// recovered when a damaged store was rebuilt. Its level is error.
const NoteLost = "lost"

// Placeholder returns an event to show in place of the damaged one, which says that it
// is damaged. It is for people to read. Only a copy of the session stores it, elsewhere:
// [Event.IsPlaceholder] distinguishes it from what was said.
func (e *DamagedError) Placeholder() Event {
	ev := NewEvent(KindNoted, e.Time, Noted{Name: "damaged", Level: "error", Data: MustJSON(e.Error())})
	switch e.Kind {
	case KindCreated:
		ev = NewEvent(KindCreated, e.Time, Created{})
	case KindSaid, "": // an event of unknown kind must be visible too
		role := e.Role
		switch role {
		case RoleUser, RoleAssistant, RoleTool, RoleSystem, RoleSteer:
		default:
			role = RoleSystem
		}
		ev = NewEvent(KindSaid, e.Time, Message{Role: role, Parts: []Part{{Kind: PartText, Text: Text("[" + e.Error() + "]")}}})
	}
	ev.Seq, ev.ClientID = e.Seq, ClientID(fmt.Sprint(standIn, e.Seq))
	return ev
}

// standIn is what the client ID of each placeholder begins with.
const standIn = "damaged/"

// IsPlaceholder reports whether e is the placeholder of a damaged event
// ([DamagedError.Placeholder]).
func (e *Event) IsPlaceholder() bool { return strings.HasPrefix(string(e.ClientID), standIn) }

// A DamagedRecordsError says which records of a source file, from number First to
// Last, cannot be read. It wraps [ErrCorrupt] and Err.
type DamagedRecordsError struct {
	First, Last int
	Err         error
}

// Error implements error.
func (e *DamagedRecordsError) Error() string {
	if e.First == e.Last {
		return fmt.Sprintf("record %d is damaged: %v", e.First, e.Err)
	}
	return fmt.Sprintf("records %d to %d are damaged: %v", e.First, e.Last, e.Err)
}

// Unwrap returns [ErrCorrupt] and Err.
func (e *DamagedRecordsError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }
