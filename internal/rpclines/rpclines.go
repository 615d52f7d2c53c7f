package rpclines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/skein-dev/skein/internal/lines"
)

// Why something is not a message, besides what [jsonrpc.DecodeMessage] returns.
var (
	ErrLong    = errors.New("the line is too long")
	ErrNotJSON = errors.New("the line is not JSON")
	ErrEmpty   = errors.New("the batch is empty: it needs at least one message")
	ErrShape   = errors.New("a message is a JSON object")
)

// A Reader reads the messages of a stream, one per line, and those of a batch one by
// one. It is used by one goroutine at a time.
type Reader struct {
	io.Closer
	in   *bufio.Reader
	most int
	odd  func(text []byte, why error) error
	rest []byte // of the messages that were read and not yet returned
}

// New returns a reader of in. It calls odd for what is not a message, with the
// reason: a line, of which odd gets only the beginning if it has more than most
// bytes, or an element of a batch. An error of odd is returned by Read.
func New(in io.ReadCloser, most int, odd func(text []byte, why error) error) *Reader {
	return &Reader{in, bufio.NewReader(in), most, odd, nil}
}

// Read implements [io.Reader]; errors are the stream's and odd's.
func (r *Reader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		line, err := r.next()
		if terr := r.take(line); terr != nil {
			return 0, terr
		}
		if err != nil && len(r.rest) == 0 {
			return 0, err
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next returns a line; if it is too long, one byte more than the limit.
func (r *Reader) next() (line []byte, err error) {
	for err = lines.ErrLong; errors.Is(err, lines.ErrLong) && len(line) <= r.most; {
		line, err = lines.Append(line, r.in, r.most+1)
		line = bytes.TrimLeft(line, " \t\r\n")
	}
	if errors.Is(err, lines.ErrLong) {
		_, err = lines.Skip(r.in)
	}
	return bytes.TrimSpace(line), err
}

// take adds the messages of a line to rest.
func (r *Reader) take(line []byte) error {
	var batch []json.RawMessage
	switch {
	case len(line) == 0:
		return nil
	case len(line) > r.most:
		return r.odd(line, ErrLong)
	case !json.Valid(line):
		return r.odd(line, ErrNotJSON)
	case line[0] != '[' || json.Unmarshal(line, &batch) != nil:
		batch = []json.RawMessage{line}
	case len(batch) == 0:
		return r.odd(line, ErrEmpty)
	}
	for _, one := range batch {
		if one[0] != '{' {
			if err := r.odd(one, ErrShape); err != nil {
				return err
			}
		} else if _, err := jsonrpc.DecodeMessage(one); err == nil {
			r.rest = append(append(r.rest, one...), '\n')
		} else if err := r.odd(one, err); err != nil {
			return err
		}
	}
	return nil
}
