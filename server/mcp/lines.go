package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/skein-dev/skein/internal/rpclines"
)

// messages returns the client's messages. Lines that are not messages are left
// out, and answered here. out must be safe for concurrent use.
func messages(in io.ReadCloser, out io.Writer) *rpclines.Reader {
	return rpclines.New(in, maxRequest, func(text []byte, why error) error {
		switch {
		case errors.Is(why, rpclines.ErrLong):
			return refuse(out, nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxRequest))
		case errors.Is(why, rpclines.ErrNotJSON):
			return refuse(out, nil, jsonrpc.CodeParseError, fmt.Sprintf("the line is not JSON: it begins with %.40q", text))
		}
		says := why.Error()
		if strings.Contains(says, "unmarshal") { // in the words of Go, not of the client
			says = "a field of the message is not of the type that JSON-RPC 2.0 says"
		}
		return refuse(out, idOf(text), jsonrpc.CodeInvalidRequest, says)
	})
}

// idOf returns the ID of a line that is not a message; nil if it has none that
// an answer can have.
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

// refuse answers a line that is not a message.
func refuse(out io.Writer, id any, code int64, why string) error {
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
	_, err = out.Write(append(b, '\n'))
	return err
}

// oneByOne is a stream that is safe for concurrent use.
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
