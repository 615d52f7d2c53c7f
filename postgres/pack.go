package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"

	"github.com/skein-dev/skein"
)

// A packed is a batch with all that can be worked out without the database.
type packed struct {
	skein.Batch
	events []packedEvent
	blobs  map[skein.Hash]packedBlob
	blocks []recordBlock // of the import's records
}

// A packedEvent is an event and what is known of it.
type packedEvent struct {
	e    skein.Event
	f    skein.Facts
	hash []byte // nil without a client ID
}

func (s *Store) packBatch(b skein.Batch) (p packed, err error) {
	p.Batch = b
	if err := checkBatch(&b); err != nil {
		return p, err
	}
	p.events = make([]packedEvent, len(b.Events))
	for i, e := range b.Events {
		if p.events[i], err = s.packEvent(e); err != nil {
			return p, err
		}
	}
	for _, blob := range b.Blobs {
		if p.blobs == nil {
			p.blobs = map[skein.Hash]packedBlob{}
		}
		if p.blobs[blob.Hash], err = s.pack.packBlob(blob); err != nil {
			return p, err
		}
	}
	if b.Import != nil {
		p.blocks = s.pack.blocks(b.Import.Records)
	}
	return p, nil
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
	case b.Import != nil:
		return checkImport(b.Import)
	}
	return nil
}

func (s *Store) packEvent(e skein.Event) (p packedEvent, err error) {
	p.e = e
	if p.f, err = skein.FactsOf(e); err != nil {
		return p, err
	}
	if p.f.Created != nil {
		if p.f.Created, err = s.owned(*p.f.Created); err != nil {
			return p, err
		}
	}
	if e.ClientID != "" {
		p.hash = contentHash(e)
	}
	return p, nil
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
// are the same: events.hash.
func contentHash(e skein.Event) []byte {
	h := sha256.New()
	h.Write([]byte(e.Kind))
	h.Write([]byte{0})
	h.Write(e.Payload)
	return h.Sum(nil)[:16]
}

// maxIndexed is the longest text that stands in an index as it is, in bytes;
// PostgreSQL takes none of more than 2,700.
const maxIndexed = 600

// indexed returns s as the text columns hold it that an index has: as plain
// does, and where it is long its beginning and its hash.
func indexed(s string) string {
	if s = plain(s); len(s) <= maxIndexed {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return plain(s[:maxIndexed-2*sha256.Size]) + hex.EncodeToString(sum[:])
}

// lockKey returns the number of the advisory lock of something.
func lockKey(parts ...string) int64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
}
