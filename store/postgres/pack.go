package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/fnv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// A packed is a batch with everything that can be computed without the database.
type packed struct {
	skein.Batch
	events []ledger.Event
	blobs  map[skein.Hash]packedBlob
	blocks []recordBlock // of the import's records
}

func (s appends) packBatch(b skein.Batch) (p packed, err error) {
	p.Batch = b
	if err := ledger.Check(&b); err != nil {
		return p, err
	}
	p.events = make([]ledger.Event, len(b.Events))
	for i, e := range b.Events {
		if p.events[i], err = ledger.View(s.user).Read(e); err != nil {
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

// maxIndexed is the longest text that is put into an index unchanged, in bytes;
// PostgreSQL accepts none longer than 2,700.
const maxIndexed = 600

// indexed returns s as stored in indexed text columns: like plain, but a long text
// becomes its beginning and its hash.
func indexed(s string) string {
	if s = plain(s); len(s) <= maxIndexed {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return plain(s[:maxIndexed-2*sha256.Size]) + hex.EncodeToString(sum[:])
}

// lockKey returns the key of the advisory lock for what parts name.
func lockKey(parts ...string) int64 {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return int64(h.Sum64())
}
