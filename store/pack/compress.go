package pack

import (
	"github.com/klauspost/compress/zstd"
)

// A Compressor packs what needs no texts beside it: blobs, and source records in whole
// blocks. It is safe for concurrent use.
type Compressor struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// NewCompressor returns a compressor, which must be closed. The error is that of the
// compression library.
func NewCompressor() (*Compressor, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(4), zstd.WithDecoderMaxMemory(maxWhole))
	return &Compressor{enc, dec}, err
}

// Close releases the memory of c.
func (c *Compressor) Close() {
	c.dec.Close()
	_ = c.enc.Close() //nolint:errcheck // it writes nowhere
}
