package foreign

import (
	"bufio"
	"encoding/hex"
	"errors"
	"hash/maphash"
	"io"
	"iter"
	"os"
)

// A Piece is the rows of one key.
type Piece struct {
	Key   string // "" for the rows without a key
	Size  int64  // bytes of the lines
	Stamp string // differs if the lines do

	first, spans int64 // its entries in the index
}

// Pieces are the result of Split; nil has none. They can be read until the DB is
// closed, or split again.
type Pieces struct {
	n       int
	chunks  [][]storedPiece // of chunkLen each
	numbers map[keyHash]uint32
	seeds   [2]maphash.Seed

	lines  *os.File // the rows, as they came
	keys   *os.File
	rows   *os.File // an entry for each run of rows, as they came
	index  *os.File // the same by piece
	places *os.File // the places of runs in their piece: these texts, one after the other
}

// A storedPiece is a Piece whose key is in a file.
type storedPiece struct {
	keyAt, keyLen int64
	size          int64
	first, spans  int64
	stamp         [16]byte
}

// A keyHash is the hash of a key. A collision is not likely.
type keyHash [2]uint64

// chunkLen is how many pieces are allocated at once: one long slice would be in memory
// twice while it grows.
const chunkLen = 4096

func newPieces() *Pieces {
	return &Pieces{numbers: map[keyHash]uint32{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (ps *Pieces) hash(key string) keyHash {
	return keyHash{maphash.String(ps.seeds[0], key), maphash.String(ps.seeds[1], key)}
}

func (ps *Pieces) at(number uint32) *storedPiece { return &ps.chunks[number/chunkLen][number%chunkLen] }

func (ps *Pieces) add(key string, p storedPiece) (number uint32) {
	number = uint32(ps.n) //nolint:gosec // at most maxPieces
	if number%chunkLen == 0 {
		ps.chunks = append(ps.chunks, make([]storedPiece, 0, chunkLen))
	}
	last := len(ps.chunks) - 1
	ps.chunks[last] = append(ps.chunks[last], p)
	ps.numbers[ps.hash(key)] = number
	ps.n++
	return number
}

// close closes the files. Errors are the system's.
func (ps *Pieces) close() error {
	if ps == nil {
		return nil
	}
	var errs []error
	for _, f := range []*os.File{ps.lines, ps.keys, ps.rows, ps.index, ps.places} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Len returns how many pieces there are.
func (ps *Pieces) Len() int {
	if ps == nil {
		return 0
	}
	return ps.n
}

// All yields the pieces in the order in which their keys were found. Errors are
// those of the temporary file.
func (ps *Pieces) All() iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		if ps.Len() == 0 {
			return
		}
		in := bufio.NewReaderSize(io.NewSectionReader(ps.keys, 0, 1<<62), 1<<16)
		for i := range ps.n {
			p := ps.at(uint32(i)) //nolint:gosec // at most maxPieces
			key := make([]byte, p.keyLen)
			if _, err := io.ReadFull(in, key); err != nil {
				yield(Piece{}, err)
				return
			}
			if !yield(p.named(string(key)), nil) {
				return
			}
		}
	}
}

// Of returns the piece with a key, and false if there is none.
func (ps *Pieces) Of(key string) (Piece, bool) {
	if ps.Len() == 0 {
		return Piece{}, false
	}
	number, ok := ps.numbers[ps.hash(key)]
	if !ok {
		return Piece{}, false
	}
	return ps.at(number).named(key), true
}

func (p *storedPiece) named(key string) Piece {
	return Piece{Key: key, Size: p.size, Stamp: hex.EncodeToString(p.stamp[:]), first: p.first, spans: p.spans}
}
