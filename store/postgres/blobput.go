package postgres

import (
	"encoding/hex"
	"fmt"

	"github.com/skein-dev/skein"
)

// The forms of blobs.data.
const (
	blobRaw  = 0
	blobZstd = 1
)

// A packedBlob is a row of blobs.
type packedBlob struct {
	hash []byte
	size int
	form int
	data []byte
}

func (p *packer) packBlob(b skein.Blob) (packedBlob, error) {
	if err := b.Check(); err != nil {
		return packedBlob{}, err
	}
	hash, err := hex.DecodeString(string(b.Hash))
	if err != nil {
		return packedBlob{}, err
	}
	if z := p.enc.EncodeAll(b.Data, nil); len(z) < len(b.Data)*15/16 {
		return packedBlob{hash, len(b.Data), blobZstd, z}, nil
	}
	data := b.Data
	if data == nil {
		data = []byte{} // nil would be NULL
	}
	return packedBlob{hash, len(b.Data), blobRaw, data}, nil
}

// unpackBlob returns the bytes of the blob h from its row.
//
// The error wraps [skein.ErrCorrupt] if they are not what was stored.
func (p *packer) unpackBlob(h skein.Hash, form, size int, data []byte) ([]byte, error) {
	if form == blobZstd {
		var err error
		if data, err = p.dec.DecodeAll(data, make([]byte, 0, size)); err != nil {
			return nil, fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
		}
	}
	if err := (skein.Blob{Hash: h, Data: data}).Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
	}
	return data, nil
}

// hashBytes returns the 32 bytes of h, as stored in blobs.hash.
func hashBytes(h skein.Hash) ([]byte, error) {
	b, err := hex.DecodeString(string(h))
	if err != nil || len(b) != 32 {
		return nil, fmt.Errorf("%w blob %q", skein.ErrInvalid, h)
	}
	return b, nil
}

func (w *work) hasBlob(k userBlob) (bool, error) {
	hash, err := hashBytes(k.hash)
	if err != nil {
		return false, nil //nolint:nilerr // there is no blob with such a hash
	}
	if w.stored[k] {
		return true, nil
	}
	var one int
	return w.tx.one(`SELECT 1 FROM blob_refs r WHERE r.user_id = $1 AND r.hash = $2
		AND NOT EXISTS (SELECT FROM purge_queue d WHERE d.user_id = r.user_id AND d.n = r.n AND r.seq > d.above) LIMIT 1`, []any{string(k.user), hash}, &one)
}

// writeBlobs adds the blobs that the group's events refer to to the pipe: those
// that came with the batches are inserted, and all are locked against removal
// until the commit.
func (w *work) writeBlobs(p *pipe) error {
	users := map[skein.User][][]byte{}
	for k := range w.stored {
		hash, err := hashBytes(k.hash)
		if err != nil {
			return err
		}
		users[k.user] = append(users[k.user], hash)
		if b, ok := w.brought[k]; ok {
			p.exec(`INSERT INTO blobs (user_id, hash, size, form, data) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, hash) DO NOTHING`,
				string(k.user), b.hash, b.size, b.form, b.data)
		}
	}
	for user, hashes := range users {
		p.exec(`SELECT must_be(count(*) = $3) FROM (SELECT 1 FROM blobs WHERE user_id = $1 AND hash = ANY($2::bytea[]) ORDER BY hash FOR KEY SHARE) b`,
			string(user), hashes, len(hashes))
	}
	clear(w.stored)
	return nil
}
