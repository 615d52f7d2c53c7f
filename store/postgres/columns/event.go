package columns

import (
	"errors"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/postgres/wire"
)

// Event is the columns that ScanEvent reads, of events e.
const Event = `e.seq, e.at, e.kind, e.client, e.payload, e.turn, e.prev, e.piece, e.sum, e.role`

// A Beside is what an event's row has besides the event.
type Beside struct {
	Turn  int
	Prev  skein.Seq // seq of the said event before it, in a fork's parent too; 0 without one
	Piece bool
}

// ScanEvent reads a row of Event, and the columns that follow into more. The
// error is a [skein.DamagedError] if the event is not what was stored; everything
// else has been read then.
func ScanEvent(r wire.Row, more ...any) (e skein.Event, p Beside, err error) {
	var client, role *string
	var payload []byte
	var kind string
	var sum int64
	err = r.Scan(append([]any{&e.Seq, &e.Time, &kind, &client, &payload, &p.Turn, &p.Prev, &p.Piece, &sum, &role}, more...)...)
	e.Kind, e.Payload = Kind(kind), payload
	if client != nil {
		e.ClientID = skein.ClientID(*client)
	}
	if err == nil && sum != Sum(&e) {
		bad := &skein.DamagedError{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Err: skein.ErrSum}
		if role != nil {
			bad.Role = skein.Role(*role)
		}
		err = bad
	}
	return e, p, err
}

// Sum returns events.sum.
func Sum(e *skein.Event) int64 { return int64(e.Sum("")) }

// A kind that this version does not know may contain a NUL, which no text column
// can hold.
const (
	escape    = "\x01"
	escapeNUL = "\x01\x02"
	escaped   = "\x01\x01"
)

// KindText returns what events.kind holds.
func KindText(k skein.Kind) string {
	return strings.NewReplacer("\x00", escapeNUL, escape, escaped).Replace(string(k))
}

// Kind returns the kind of events.kind.
func Kind(s string) skein.Kind {
	if !strings.Contains(s, escape) {
		return skein.Kind(s)
	}
	return skein.Kind(strings.NewReplacer(escapeNUL, "\x00", escaped, escape).Replace(s))
}

// Missing returns the error for a missing event.
func Missing(seq skein.Seq) error {
	return &skein.DamagedError{Seq: seq, Err: errors.New("its row is missing")}
}
