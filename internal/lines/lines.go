package lines

import (
	"bufio"
	"bytes"
	"errors"
)

// ErrLong says that a line is longer than wanted.
var ErrLong = errors.New("the line is too long")

// Append appends the next line of in, with its line feed, to line, which it lets grow
// to at most most bytes.
//
// The error is ErrLong if the line has more; the next call continues within it.
// Otherwise it is in's, and what was appended does not end with a line feed.
func Append(line []byte, in *bufio.Reader, most int) ([]byte, error) {
	for len(line) < most {
		if _, err := in.Peek(1); err != nil {
			return line, err
		}
		piece, _ := in.Peek(min(in.Buffered(), most-len(line))) // it is buffered
		end := bytes.IndexByte(piece, '\n') + 1
		if end > 0 {
			piece = piece[:end]
		}
		line = append(line, piece...)
		if _, err := in.Discard(len(piece)); err != nil || end > 0 {
			return line, err
		}
	}
	return line, ErrLong
}

// Skip skips the rest of a line, with its line feed, and returns how many bytes that
// is. The error is in's, if no line feed ends the line.
func Skip(in *bufio.Reader) (n int64, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if n += int64(len(piece)); !errors.Is(err, bufio.ErrBufferFull) {
			return n, err
		}
	}
}
