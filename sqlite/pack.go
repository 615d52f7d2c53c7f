package sqlite

import (
	"crypto/sha256"
	"fmt"

	"github.com/skein-dev/skein"
)

// A packed is a batch as it is written: all that can be worked out without
// the database is.
type packed struct {
	skein.Batch
	events []packedEvent
	blobs  []packedBlob
	blocks []packedBlock
	late   bool // events but the first are packed when they are written
}

// lateFrom is from how many bytes of payloads on a batch's events are packed one
// by one as they are written, though others wait meanwhile: a batch packed takes
// several times as much memory as it is long.
const lateFrom = 32 << 20

// packsLate reports whether the events of b are packed when they are written.
func packsLate(b *skein.Batch) bool {
	size := 0
	for i := range b.Events {
		size += len(b.Events[i].Payload)
	}
	return b.Import == nil && size > lateFrom // records refer to the texts of all events
}

// unpacked returns e as it is before it is packed, or after it was written.
func unpacked(e skein.Event) packedEvent {
	p := packedEvent{e: e}
	if e.ClientID != "" {
		p.hash = contentHash(e)
	}
	return p
}

// A packedEvent is an event and what its row holds.
type packedEvent struct {
	e       skein.Event
	f       skein.Facts
	id      int64        // events.id, when it is stored; 0 if its text cannot be referred to
	now     *skein.Facts // what the row says: f, or of an amended event the facts of what stands there now
	hash    []byte       // nil without a client ID
	text    any          // string, or nil if there is none
	extra   any
	items   any // string, or nil
	payload []byte
}

func (s *Store) packBatch(b skein.Batch) (p packed, err error) {
	p.Batch = b
	if err := checkBatch(&b); err != nil {
		return p, err
	}
	p.late = packsLate(&b)
	p.events = make([]packedEvent, len(b.Events))
	for i, e := range b.Events {
		if p.late && i > 0 {
			p.events[i] = unpacked(e)
			continue
		}
		if p.events[i], err = s.packEvent(e); err != nil {
			return p, err
		}
	}
	for _, blob := range b.Blobs {
		pb, err := s.pack.packBlob(blob)
		if err != nil {
			return p, err
		}
		p.blobs = append(p.blobs, pb)
	}
	if b.Import != nil {
		p.blocks, err = s.packRecords(b.Import, p.events)
	}
	return p, err
}

// checkBatch refuses what is wrong whatever the store holds.
func checkBatch(b *skein.Batch) error {
	none := b.Session == "" && len(b.Events) == 0 && b.Import != nil && b.Import.File.Session == ""
	if err := b.Session.Check(); err != nil && !none {
		return err
	}
	switch {
	case len(b.Events) == 0 && b.Import == nil:
		return fmt.Errorf("%w batch for session %s: it has no events", skein.ErrInvalid, b.Session)
	case b.After < skein.Fresh:
		return fmt.Errorf("%w batch for session %s: after %d", skein.ErrInvalid, b.Session, b.After)
	case b.Fence < 0:
		return fmt.Errorf("%w batch for session %s: fence %d", skein.ErrInvalid, b.Session, b.Fence)
	}
	return nil
}

func (s *Store) packEvent(e skein.Event) (p packedEvent, err error) {
	p = unpacked(e)
	if p.f, err = skein.FactsOf(e); err != nil {
		return p, err
	}
	if p.f.Created != nil {
		if p.f.Created, err = s.owned(*p.f.Created); err != nil {
			return p, err
		}
	}
	if p.f.Amended == nil { // else appendEvent knows what it is about
		s.packText(&p, &p.f)
	}
	return p, nil
}

// packText sets what the row says of the facts of the event, or, where it
// amends another, of what stands there now.
func (s *Store) packText(p *packedEvent, f *skein.Facts) {
	p.now = f
	if f.Text != "" {
		p.text, p.extra = f.Text, extraOf(f)
	}
	p.items = itemsOf(f.Message, f)
	p.payload = s.pack.pack(p.e.Payload, f.Text, f.Spans)
}

// owned returns c with the user whose session it makes.
func (s *Store) owned(c skein.Created) (*skein.Created, error) {
	if c.User == "" {
		c.User = s.owner()
	}
	if !s.sees(c.User) {
		return nil, fmt.Errorf("%w created event: user %q: the store is a view of user %q", skein.ErrInvalid, c.User, s.user)
	}
	return &c, nil
}

// contentHash returns what tells whether two events with the same client ID
// are the same.
func contentHash(e skein.Event) []byte {
	h := sha256.New()
	h.Write([]byte(e.Kind))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return h.Sum(nil)[:16]
}
