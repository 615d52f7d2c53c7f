package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/skein-dev/skein/internal/rpclines"
)

// messages returns what a client writes, without what is no message: that is
// answered here. out is safe for several goroutines.
func messages(in io.ReadCloser, out io.Writer) *rpclines.Reader {
	return rpclines.New(in, maxRequest, func(text []byte, why error) error {
		switch {
		case errors.Is(why, rpclines.ErrLong):
			return refuse(out, nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxRequest))
		case errors.Is(why, rpclines.ErrNotJSON):
			return refuse(out, nil, jsonrpc.CodeParseError, fmt.Sprintf("the line is not JSON: it begins with %.40q", text))
		}
		return refuse(out, idOf(text), jsonrpc.CodeInvalidRequest, why.Error())
	})
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
