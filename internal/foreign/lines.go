package foreign

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// Lines returns the lines of a piece of the last Split. It can be read until the DB is
// closed.
func (db *DB) Lines(p Piece) io.Reader {
	return &pieceReader{ps: db.pieces, p: p}
}

// A pieceReader reads a piece, some entries at a time.
type pieceReader struct {
	ps    *Pieces
	p     Piece
	begun bool
	ahead []rowRun // the next ones
	read  int64    // how many entries were read
}

// ahead is how many entries are read at once; maxSorted is how many entries a piece
// may have if they are to be sorted, and maxPlaces how many bytes their places.
const (
	ahead     = 1 << 10
	maxSorted = 1 << 20
	maxPlaces = 64 << 20
)

// Read implements [io.Reader]. Errors are those of the temporary files, and of a
// piece with too many rows to be sorted.
func (r *pieceReader) Read(b []byte) (int, error) {
	for len(r.ahead) == 0 || r.ahead[0].n == 0 {
		if len(r.ahead) > 0 {
			r.ahead = r.ahead[1:]
			continue
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	e := &r.ahead[0]
	n, err := r.ps.lines.ReadAt(b[:min(int64(len(b)), e.n)], e.at)
	e.at += int64(n)
	e.n -= int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// next reads more entries; all of them if they must be sorted.
func (r *pieceReader) next() error {
	if r.read == r.p.spans {
		return io.EOF
	}
	if !r.begun {
		r.begun = true
		sorted, err := r.ps.isSorted(r.p)
		if err != nil {
			return err
		}
		if !sorted {
			r.ahead, err = r.ps.sorted(r.p)
			r.read = r.p.spans
			return err
		}
	}
	n := min(ahead, r.p.spans-r.read)
	var err error
	r.ahead, err = r.ps.entries(r.p, r.read, n)
	r.read += n
	return err
}

// entries returns n entries of a piece, from number from on.
func (ps *Pieces) entries(p Piece, from, n int64) (all []rowRun, err error) {
	b := make([]byte, n*entryLen)
	if _, err := ps.index.ReadAt(b, (p.first+from)*entryLen); err != nil {
		return nil, err
	}
	all = make([]rowRun, n)
	for i := range all {
		all[i] = parseEntry(b[i*entryLen:])
	}
	return all, nil
}

// isSorted reports whether the rows of a piece are in the order in which they came.
func (ps *Pieces) isSorted(p Piece) (bool, error) {
	var last, place []byte
	for from := int64(0); from < p.spans; from += ahead {
		es, err := ps.entries(p, from, min(ahead, p.spans-from))
		if err != nil {
			return false, err
		}
		for _, e := range es {
			if place, err = ps.appendPlace(place[:0], e); err != nil || bytes.Compare(place, last) < 0 {
				return false, err
			}
			last, place = place, last
		}
	}
	return true, nil
}

// appendPlace appends the place of a run of rows.
func (ps *Pieces) appendPlace(b []byte, e rowRun) ([]byte, error) {
	if e.long == 0 {
		return b, nil
	}
	n := len(b)
	b = slices.Grow(b, int(e.long))[:n+int(e.long)]
	_, err := ps.places.ReadAt(b[n:], e.place)
	return b, err
}

// sorted returns the entries of a piece by their places.
func (ps *Pieces) sorted(p Piece) ([]rowRun, error) {
	if p.spans > maxSorted {
		return nil, fmt.Errorf("%d rows to be put in order, at most %d are", p.spans, maxSorted)
	}
	es, err := ps.entries(p, 0, p.spans)
	if err != nil {
		return nil, err
	}
	size := int64(0)
	for _, e := range es {
		size += e.long
	}
	if size > maxPlaces {
		return nil, fmt.Errorf("%d rows to be put in order by more than %d MB of text", p.spans, maxPlaces>>20)
	}
	places := make([]byte, 0, size)
	for i, e := range es {
		es[i].place = int64(len(places))
		if places, err = ps.appendPlace(places, e); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(es, func(a, b rowRun) int {
		return bytes.Compare(places[a.place:a.place+a.long], places[b.place:b.place+b.long])
	})
	return es, nil
}
