package foreign

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
)

// A rowRun is a run of rows of one piece.
type rowRun struct {
	piece uint32
	at, n int64 // bytes of the lines
	place int64 // offset of its place, among the places
	long  int64 // bytes of its place
}

const entryLen = 4 + 4*8

func (e rowRun) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, e.piece)
	for _, n := range []int64{e.at, e.n, e.place, e.long} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n)) //nolint:gosec // none is negative
	}
	return b
}

func parseEntry(b []byte) rowRun {
	num := func(at int) int64 { return int64(binary.LittleEndian.Uint64(b[at:])) } //nolint:gosec // as it was written
	return rowRun{binary.LittleEndian.Uint32(b), num(4), num(12), num(20), num(28)}
}

// window is how many entries are ordered at once: 18 MB of them.
const window = 1 << 19

// group writes the n entries to the index: those of each piece one after the other,
// in the order in which they came.
func (ps *Pieces) group(ctx context.Context, n int64) error {
	return ps.groupBy(ctx, n, window)
}

func (ps *Pieces) groupBy(ctx context.Context, n, window int64) error {
	first := int64(0)
	for i := range ps.n {
		p := ps.at(uint32(i)) //nolint:gosec // at most maxPieces
		p.first, p.spans, first = first, 0, first+p.spans
	}
	buf := make([]byte, min(n, window)*entryLen)
	for from := int64(0); from < n; from += window {
		in := bufio.NewReaderSize(io.NewSectionReader(ps.rows, 0, n*entryLen), 1<<18)
		for p := range ps.n { // the earlier entries are counted again
			ps.at(uint32(p)).spans = 0 //nolint:gosec // at most maxPieces
		}
		var one [entryLen]byte
		for i := range n {
			if _, err := io.ReadFull(in, one[:]); err != nil {
				return err
			}
			if i%window == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			p := ps.at(binary.LittleEndian.Uint32(one[:]))
			at := p.first + p.spans
			p.spans++
			if at >= from && at < from+window {
				copy(buf[(at-from)*entryLen:], one[:])
			}
		}
		if _, err := ps.index.WriteAt(buf[:min(n-from, window)*entryLen], from*entryLen); err != nil {
			return err
		}
	}
	return nil
}
