package columns

import (
	"bytes"
	"database/sql/driver"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// RecordsPerFile is the distance in records.n from one file to the next.
const RecordsPerFile = 1 << 32

// The columns of an event that [ScanEvent] reads, of events e.
const (
	EventColumns  = `e.seq, e.at, e.kind, e.client, e.payload, e.text, e.turn, e.prev, e.piece, e.sum, e.hash, e.role`
	EventWidth    = 12 // how many columns these are
	payloadColumn = 4
	TextColumn    = 5 // events.text in a row of EventColumns
	sumColumn     = 9
	roleColumn    = 11
	SelectEvent   = `SELECT ` + EventColumns + ` FROM events e `
)

// Hold reserves memory in s for the event of a row of [SelectEvent]. The error is
// [room.ErrFull].
func Hold(s *room.Share, row []driver.Value) error {
	if s == nil {
		return nil
	}
	payload, _ := row[payloadColumn].([]byte)
	text, _ := row[TextColumn].(string)
	return s.Try(int64(len(payload) + 2*len(text))) // the payload contains the text, too
}

// A Place is the rest of an event's row, besides the event.
type Place struct {
	Turn  int
	Prev  skein.Seq
	Piece bool
}

// ScanEvent reads a row of [SelectEvent]. The error is a [skein.DamagedError] if the
// event is not what was stored.
func ScanEvent(k *pack.Packer, row []driver.Value) (e skein.Event, p Place, err error) {
	var seq, at, turn, prev, piece int64
	var kind, client, text, role string
	var payload, hash []byte
	var sum int64
	if err := engine.Scan(row, []any{&seq, &at, &kind, &client, &payload, &text, &turn, &prev, &piece, &sum, &hash, &role}); err != nil {
		return e, p, err
	}
	e = skein.Event{Seq: skein.Seq(seq), Time: skein.Time(at), Kind: skein.Kind(kind), ClientID: skein.ClientID(client)}
	p = Place{int(turn), skein.Seq(prev), piece != 0}
	if e.Payload, err = k.Unpack(payload, text); err == nil {
		if row[sumColumn] == nil {
			sum = unsummed
		}
		err = compare(&e, text, sum, hash)
	}
	if err != nil {
		err = &skein.DamagedError{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Role: skein.Role(role), Err: err}
	}
	return e, p, err
}

// unsummed stands for a NULL in events.sum.
const unsummed = -1

// Sum returns events.sum of an event whose payload is stored beside text.
func Sum(e *skein.Event, text string) int64 { return int64(e.Sum(text)) }

// compare returns an error if an event is not what was stored. An event without a
// checksum was deleted in the shell, which cannot compute one: it has no hash either.
func compare(e *skein.Event, text string, sum int64, hash []byte) error {
	switch {
	case sum != unsummed && sum != Sum(e, text), sum == unsummed && len(hash) > 0 && !bytes.Equal(hash, ledger.Hash(*e)):
		return skein.ErrSum
	}
	return nil
}
