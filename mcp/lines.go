package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lines is what a client writes, without what is no message: that is answered
// here and the next line is read, because the SDK ends the connection at the
// first line that it cannot read.
type lines struct {
	io.Closer
	in   *bufio.Reader
	out  io.Writer // safe for several goroutines
	rest []byte    // of the messages that were read and not yet passed on
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in, bufio.NewReader(in), out, nil}
}

// Read implements [io.Reader] with one message a line; errors are those of both
// streams.
func (l *lines) Read(b []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := l.take(line); err != nil {
				return 0, err
			}
		}
		if err != nil && len(l.rest) == 0 {
			return 0, err
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next returns a line; of one that is too long, one byte more than may be.
func (l *lines) next() (line []byte, err error) {
	for {
		piece, err := l.in.ReadSlice('\n')
		line = append(line, piece[:min(len(piece), maxRequest+1-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// take passes a line on, or answers it. The messages of a batch are passed on
// one by one, for the SDK ends the connection at a batch too.
func (l *lines) take(line []byte) error {
	var batch []json.RawMessage
	switch {
	case len(line) > maxRequest:
		return l.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxRequest))
	case !json.Valid(line):
		return l.refuse(nil, jsonrpc.CodeParseError, fmt.Sprintf("the line is not JSON: it begins with %.40q", line))
	case line[0] == '[' && json.Unmarshal(line, &batch) == nil && len(batch) > 0:
		for _, one := range batch {
			if err := l.message(one); err != nil {
				return err
			}
		}
		return nil
	}
	return l.message(line)
}

// message passes on what is one message, or answers it.
func (l *lines) message(text []byte) error {
	if _, err := jsonrpc.DecodeMessage(text); err != nil {
		return l.refuse(idOf(text), jsonrpc.CodeInvalidRequest, err.Error())
	}
	l.rest = append(append(l.rest, text...), '\n')
	return nil
}

// idOf returns the ID of what is no message, nil if it has none that an answer
// can bear.
func idOf(text []byte) any {
	var m struct {
		ID any `json:"id"`
	}
	_ = json.Unmarshal(text, &m) // then it has none
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// refuse answers what is no message.
func (l *lines) refuse(id any, code int64, why string) error {
	type failure struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	b, err := json.Marshal(struct {
		Version string  `json:"jsonrpc"`
		ID      any     `json:"id"`
		Error   failure `json:"error"`
	}{"2.0", id, failure{code, why}})
	if err != nil {
		return err
	}
	_, err = l.out.Write(append(b, '\n'))
	return err
}

// oneByOne is a stream that several goroutines may write to.
type oneByOne struct {
	io.WriteCloser
	mu sync.Mutex
}

// Write implements [io.Writer]; errors are those of the stream.
func (w *oneByOne) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.WriteCloser.Write(b)
}
