package pack

import (
	"encoding/hex"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/skein-dev/skein"
)

// The forms of a blob.
const (
	blobRaw  = 0
	blobZstd = 1
)

// A Blob is a blob as it is stored.
type Blob struct {
	Hash []byte // SHA-256 of its bytes
	Size int    // in bytes
	Form int    // of Data: 0 is as it is, 1 is zstd
	Data []byte
}

// Blob returns the stored form of a blob. The error wraps [skein.ErrInvalid] if
// its bytes are not those of its hash.
func (p *Compressor) Blob(b skein.Blob) (Blob, error) {
	if err := b.Check(); err != nil {
		return Blob{}, err
	}
	hash, err := hex.DecodeString(string(b.Hash))
	if err != nil {
		return Blob{}, err
	}
	if z := p.enc.EncodeAll(b.Data, nil); len(z) < len(b.Data)*15/16 {
		return Blob{hash, len(b.Data), blobZstd, z}, nil
	}
	data := b.Data
	if data == nil {
		data = []byte{} // nil would be NULL
	}
	return Blob{hash, len(b.Data), blobRaw, data}, nil
}

// UnpackedSize returns how many bytes UnpackBlob needs for what it returns, by the stored
// data: the size in a damaged row may be any number.
func UnpackedSize(form int, data []byte) int64 {
	var head zstd.Header
	if form != blobZstd {
		return int64(len(data))
	}
	if head.Decode(data) != nil || head.FrameContentSize > maxWhole {
		return 0 // it is damaged, and not unpacked
	}
	return int64(head.FrameContentSize)
}

// UnpackBlob returns the bytes of the blob h from its stored form. The error
// wraps [skein.ErrCorrupt] if they are not what was stored.
func (p *Compressor) UnpackBlob(h skein.Hash, form int, data []byte) ([]byte, error) {
	if form == blobZstd {
		var err error
		if data, err = p.dec.DecodeAll(data, nil); err != nil {
			return nil, fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
		}
	}
	if err := (skein.Blob{Hash: h, Data: data}).Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", skein.ErrCorrupt, err)
	}
	return data, nil
}
