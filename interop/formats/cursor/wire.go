package cursor

import "encoding/binary"

// fields calls yield with the fields of a message in the wire format of protocol
// buffers (https://protobuf.dev/programming-guides/encoding/) that hold bytes, in
// order, and stops at anything malformed.
func fields(b []byte, yield func(number int, value []byte)) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key>>3 == 0 || key>>3 > 1<<29 {
			return
		}
		b = b[n:]
		switch key & 7 {
		case 0:
			_, n := binary.Uvarint(b)
			if n <= 0 {
				return
			}
			b = b[n:]
		case 1:
			if len(b) < 8 {
				return
			}
			b = b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return
			}
			yield(int(key>>3), b[n:n+int(size)])
			b = b[n+int(size):]
		case 5:
			if len(b) < 4 {
				return
			}
			b = b[4:]
		default:
			return
		}
	}
}
