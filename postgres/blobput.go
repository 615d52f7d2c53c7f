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

// hashBytes returns the 32 bytes that h names, as blobs.hash has them.
func hashBytes(h skein.Hash) ([]byte, error) {
	b, err := hex.DecodeString(string(h))
	if err != nil || len(b) != 32 {
		return nil, fmt.Errorf("%w blob %q", skein.ErrInvalid, h)
	}
	return b, nil
}
