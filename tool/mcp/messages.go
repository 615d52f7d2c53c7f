package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages is what a server's program writes, without what is no message, such
// as a line of a log: the SDK ends the connection at the first line that it
// cannot read, and at a batch.
type messages struct {
	io.Closer
	in    *bufio.Reader
	other io.Writer // gets the beginnings of the other lines
	rest  []byte    // of messages that were read and not yet passed on
}

func onlyMessages(in io.ReadCloser, other io.Writer) *messages {
	return &messages{in, bufio.NewReader(in), other, nil}
}

// Read implements [io.Reader] with one message a line; errors are those of the
// stream, or say that a line is too long.
func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.next()
		m.take(bytes.TrimSpace(line))
		if err != nil && len(m.rest) == 0 {
			return 0, err
		}
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func (m *messages) next() (line []byte, err error) {
	for {
		piece, err := m.in.ReadSlice('\n')
		if line = append(line, piece...); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxMessage {
			return nil, fmt.Errorf("it wrote a line of more than %d bytes", maxMessage)
		}
	}
}

// take passes on the messages of a line, one by one.
func (m *messages) take(line []byte) {
	all := []json.RawMessage{line}
	if bytes.HasPrefix(line, []byte("[")) {
		all = nil
		_ = json.Unmarshal(line, &all) // then there are none
	}
	for _, one := range all {
		if _, err := jsonrpc.DecodeMessage(one); err == nil {
			m.rest = append(append(m.rest, one...), '\n')
		}
	}
	if len(m.rest) == 0 && len(line) > 0 {
		fmt.Fprintf(m.other, "%.200s\n", line)
	}
}
