package postgres

import (
	"github.com/klauspost/compress/zstd"
)

// A packer compresses and decompresses. It is safe for concurrent use.
type packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(4), zstd.WithDecoderMaxMemory(maxBlock))
	return &packer{enc, dec}, err
}

func (p *packer) close() { p.dec.Close() }
