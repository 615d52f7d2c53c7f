package wire

import (
	"bufio"
	"errors"
	"io"

	"github.com/skein-dev/skein/internal/lines"
)

// A Reader reads lines.
type Reader struct {
	in   *bufio.Reader
	most int
}

// NewReader returns a reader of lines of in, which keeps at most most bytes of one.
func NewReader(in io.Reader, most int) *Reader {
	return &Reader{bufio.NewReaderSize(in, 1<<16), most}
}

// Next returns the next line, with its line feed if it has one. If more is true, the
// line is longer, and its next piece follows.
//
// The error is in's; what was read before it is returned first.
func (r *Reader) Next() (line []byte, more bool, err error) {
	line, err = lines.Append(nil, r.in, r.most)
	if errors.Is(err, lines.ErrLong) {
		return line, true, nil
	}
	if len(line) > 0 {
		return line, false, nil // the error comes again
	}
	return nil, false, err
}
