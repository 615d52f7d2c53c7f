package postgres

import (
	"strings"

	"github.com/skein-dev/skein"
)

// eventColumns are the columns that scanEvent reads, of events e.
const eventColumns = `e.seq, e.at, e.kind, e.client, e.payload, e.turn, e.prev, e.piece, e.sum, e.role`

// A place is what an event's row has besides the event.
type place struct {
	turn  int
	prev  skein.Seq // seq of the said event before it, in a fork's parent too; 0 without one
	piece bool
}

// scanEvent reads a row of eventColumns, and the columns that follow into more. The
// error is a [skein.DamagedError] if the event is not what was stored; everything
// else has been read then.
func scanEvent(r row, more ...any) (e skein.Event, p place, err error) {
	var client, role *string
	var payload []byte
	var kind string
	var sum int64
	err = r.Scan(append([]any{&e.Seq, &e.Time, &kind, &client, &payload, &p.turn, &p.prev, &p.piece, &sum, &role}, more...)...)
	e.Kind, e.Payload = kindFrom(kind), payload
	if client != nil {
		e.ClientID = skein.ClientID(*client)
	}
	if err == nil && sum != sumOf(&e) {
		bad := &skein.DamagedError{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Err: skein.ErrSum}
		if role != nil {
			bad.Role = skein.Role(*role)
		}
		err = bad
	}
	return e, p, err
}

// sumOf returns events.sum.
func sumOf(e *skein.Event) int64 { return int64(e.Sum("")) }

// A kind that this version does not know may contain a NUL, which no text column
// can hold.
const (
	escape    = "\x01"
	escapeNUL = "\x01\x02"
	escaped   = "\x01\x01"
)

// kindText returns what events.kind holds.
func kindText(k skein.Kind) string {
	return strings.NewReplacer("\x00", escapeNUL, escape, escaped).Replace(string(k))
}

func kindFrom(s string) skein.Kind {
	if !strings.Contains(s, escape) {
		return skein.Kind(s)
	}
	return skein.Kind(strings.NewReplacer(escapeNUL, "\x00", escaped, escape).Replace(s))
}
