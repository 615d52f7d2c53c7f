package jsonl

import (
	"bytes"
	"errors"
	"io"
)

// A Piece is one record of a stream. Its slices are the caller's to keep.
type Piece struct {
	Raw    []byte // all its bytes, with the separator after it
	Body   []byte // JSON object or array in valid UTF-8; nil if there is none
	Offset int64  // of Raw in the stream
	Line   int    // 1 for the first line
	Damage string // what is wrong with it; "" if nothing. It may still have a Body
	Torn   bool   // the stream ended in the middle of it: it has no Body yet
	Ended  bool   // a line feed ends it, or another piece of the line follows: it will not change when the stream grows
}

// A Reader splits a stream into pieces.
type Reader struct {
	in     io.Reader
	buf    []byte // what was read and is not yet returned
	line   []byte // rest of the current line, at the start of buf
	chunk  int    // size of buf when it was allocated
	err    error  // of in, io.EOF included
	offset int64
	number int  // of the current line
	ended  bool // the current line will not change
	long   bool // it is part of a line that is longer than the limit
	more   bool // and another part follows
	limits Limits
}

// Limits are the limits of a piece.
type Limits struct {
	Bytes int // a longer line is damaged, and split into pieces of at most 1 MB
	Depth int // a value nested deeper is damaged
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader, l Limits) *Reader { return &Reader{in: r, limits: l} }

// A Place is a position where a Reader can be resumed.
type Place struct {
	Offset int64
	Line   int  // line that the next piece is on
	Long   bool // in the middle of a line that is longer than the limit
}

// Resume returns a Reader of r, which begins at p in the stream.
func Resume(r io.Reader, l Limits, p Place) *Reader {
	return &Reader{in: r, limits: l, offset: p.Offset, number: p.Line - p.step(), more: p.Long}
}

// Place returns where the next piece begins.
func (r *Reader) Place() Place {
	if len(r.line) > 0 {
		return Place{r.offset, r.number, false}
	}
	p := Place{r.offset, r.number, r.more}
	p.Line += p.step()
	return p
}

// step returns how many lines after p the next line is.
func (p Place) step() int {
	if p.Long {
		return 0
	}
	return 1
}

// Next returns the next piece. The error is [io.EOF] after the last one, or
// the stream's.
func (r *Reader) Next() (Piece, error) {
	if len(r.line) == 0 {
		if err := r.nextLine(); err != nil {
			return Piece{}, err
		}
	}
	p := r.cut(r.line)
	p.Offset, p.Line = r.offset, r.number
	p.Ended = r.ended || len(p.Raw) < len(r.line)
	r.take(len(p.Raw))
	return p, nil
}

// Reject says that the Body of p, the piece that Next returned last, is not JSON. It
// returns p as damaged. If p ends with a whole object, p is shortened and the object
// is the next piece, unless p has not ended.
func (r *Reader) Reject(p Piece, why string) Piece {
	keep := len(p.Raw)
	if at, _ := leading(p.Raw); at < keep && p.Ended {
		keep = at + salvage(p.Raw[at:])
	}
	if back := len(p.Raw) - keep; back > 0 {
		line := len(r.line)
		r.offset -= int64(back)
		r.buf = append(bytes.Clone(p.Raw[keep:]), r.buf...)
		r.line = r.buf[:back+line]
	}
	p.Raw, p.Body, p.Damage = p.Raw[:keep:keep], nil, why
	return p
}

func (r *Reader) take(n int) {
	r.buf, r.line = r.buf[n:], r.line[n:]
	r.offset += int64(n)
	if n > maxChunk && len(r.line) == 0 {
		r.buf = bytes.Clone(r.buf) // else the long line would be kept in memory with what follows it
	}
}

// nextLine sets line to the next line, with its line feed, or to as much of it as
// the limit allows.
func (r *Reader) nextLine() error {
	for seen := 0; ; {
		limit := r.limits.Bytes
		if r.more { // the rest of a long line is not joined
			limit = min(limit, longPiece)
		}
		n := bytes.IndexByte(r.buf[seen:], '\n')
		switch {
		case n >= 0 && seen+n <= limit:
			r.begin(seen+n+1, true)
			r.more = false
			return nil
		case n >= 0 || len(r.buf) > limit:
			r.begin(min(limit, longPiece), true)
			r.long, r.more = true, true
			return nil
		case r.err == nil:
			seen = len(r.buf)
			r.fill(limit)
		case !errors.Is(r.err, io.EOF) || len(r.buf) == 0:
			return r.err
		default:
			r.begin(len(r.buf), false)
			return nil
		}
	}
}

func (r *Reader) begin(n int, ended bool) {
	if !r.more {
		r.number++
	}
	r.line, r.ended, r.long = r.buf[:n:n], ended, r.more
}

// How many bytes are read at once: few at first, because most files are short.
// Pieces point into what was read.
const (
	minChunk = 16 << 10
	maxChunk = 1 << 20
)

// longPiece is the length in bytes of the pieces of a line that is longer than the
// limit.
const longPiece = 1 << 20

// fill appends more to buf: as much as one read returns, or, for a line that is longer
// than a chunk, the whole line, up to the limit.
func (r *Reader) fill(limit int) {
	if cap(r.buf)-len(r.buf) >= minChunk/4 {
		r.read()
		return
	}
	if len(r.buf) >= maxChunk {
		r.gather(limit)
		return
	}
	r.chunk = min(max(minChunk, 4*r.chunk), maxChunk)
	r.buf = append(make([]byte, 0, max(r.chunk, 2*len(r.buf))), r.buf...)
	r.read()
}

// read reads into the free space of buf.
func (r *Reader) read() {
	n, err := r.in.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf, r.err = r.buf[:len(r.buf)+n], err
}

// gather reads up to a line feed, in chunks that are joined once: a buffer that grows
// as it fills would be in memory twice, and half empty in the end.
func (r *Reader) gather(limit int) {
	parts := [][]byte{r.buf}
	for size, ends := len(r.buf), false; !ends && size <= limit && r.err == nil; {
		r.buf = make([]byte, 0, maxChunk)
		for !ends && len(r.buf) < maxChunk && r.err == nil {
			was := len(r.buf)
			r.read()
			ends = bytes.IndexByte(r.buf[was:], '\n') >= 0
		}
		parts, size = append(parts, r.buf), size+len(r.buf)
	}
	r.buf = bytes.Join(parts, nil)
}
