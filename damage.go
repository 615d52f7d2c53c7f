package skein

import (
	"errors"
	"fmt"
	"strings"
)

// A DamagedError says which event of a session cannot be read as it was
// written. It wraps [ErrCorrupt] and Err. What it has besides the place is what
// could still be read.
type DamagedError struct {
	Seq  Seq
	Time Time
	Kind Kind // "" if that cannot be told
	Role Role // of a said event; "" if that cannot be told
	Err  error
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("event %d is damaged: %v", e.Seq, e.Err) }

// Unwrap returns [ErrCorrupt] and Err.
func (e *DamagedError) Unwrap() []error { return []error{ErrCorrupt, e.Err} }

// ErrSum is what a [DamagedError] wraps if the event was read but is not what was
// stored.
var ErrSum = errors.New("its checksum does not match: it is not what was stored")

// NoteLost is the name of the note that stands in the place of an event which was
// lost with the damage that a store was rebuilt after. Its level is error.
const NoteLost = "lost"

// StandIn returns an event that says, in the place of the damaged one, that it is
// damaged. It is for people to read. Only a copy of the session stores it, elsewhere:
// [Event.StandsIn] tells it from what was said.
func (e *DamagedError) StandIn() Event {
	ev := NewEvent(KindNoted, e.Time, Noted{Name: "damaged", Level: "error", Data: MustJSON(e.Error())})
	switch e.Kind {
	case KindCreated:
		ev = NewEvent(KindCreated, e.Time, Created{})
	case KindSaid, "": // what cannot be told must be seen, too
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

// standIn is what the client ID of each stand-in begins with.
const standIn = "damaged/"

// StandsIn reports whether e only stands in for a damaged event
// ([DamagedError.StandIn]).
func (e *Event) StandsIn() bool { return strings.HasPrefix(string(e.ClientID), standIn) }

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
