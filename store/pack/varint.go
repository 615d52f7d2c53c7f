package pack

import (
	"encoding/binary"
)

// A varintReader reads varints. Once one is missing, it is bad.
type varintReader struct {
	b   []byte
	bad bool
}

func (d *varintReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > 1<<50 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *varintReader) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 || v > 1<<60 || v < -1<<60 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the number of the items that follow, each of at least one byte.
func (d *varintReader) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

func (d *varintReader) bytes() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	s := d.b[:n:n]
	d.b = d.b[n:]
	return s
}
