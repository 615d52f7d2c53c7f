package skein

import (
	"crypto/sha256"
	"encoding/hex"
)

// A Hash names a blob: the SHA-256 of its bytes, 64 characters of lower-case
// hexadecimal.
type Hash string

// A Blob is bytes that lie out of line: an image, a document. They go to a
// Store with the batch whose events name them and are kept once each.
type Blob struct {
	Hash Hash
	Data []byte
}

// NewBlob returns data as a Blob. It keeps data.
func NewBlob(data []byte) Blob {
	sum := sha256.Sum256(data)
	return Blob{Hash: Hash(hex.EncodeToString(sum[:])), Data: data}
}

// Check reports an error wrapping [ErrInvalid] if b's hash is not its data's.
func (b Blob) Check() error {
	if want := NewBlob(b.Data).Hash; b.Hash != want {
		return invalidf("blob %s: its bytes have the hash %s", b.Hash, want)
	}
	return nil
}
