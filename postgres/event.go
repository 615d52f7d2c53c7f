package postgres

import (
	"github.com/skein-dev/skein"
)

// eventColumns are the columns that scanEvent reads, of events e.
const eventColumns = `e.seq, e.at, e.kind, e.client, e.payload, e.turn, e.prev, e.piece`

// A place is what an event's row says besides the event.
type place struct {
	turn  int
	prev  skein.Seq // of the said event before it, a fork's parent's included; 0 if none
	piece bool
}

// scanEvent reads a row of eventColumns, and what follows them into more.
func scanEvent(r row, more ...any) (e skein.Event, p place, err error) {
	var client *string
	var payload []byte
	err = r.Scan(append([]any{&e.Seq, &e.Time, &e.Kind, &client, &payload, &p.turn, &p.prev, &p.piece}, more...)...)
	e.Payload = payload
	if client != nil {
		e.ClientID = skein.ClientID(*client)
	}
	return e, p, err
}
