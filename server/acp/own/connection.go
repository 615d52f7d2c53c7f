package own

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/acp/wire"
)

// maxLine is the longest line that is taken from an editor, in bytes.
const maxLine = 64 << 20

// The codes of errors, beside those of package stored.
const (
	parseError     = -32700
	invalidRequest = -32600
	noMethod       = -32601
	cancelled      = -32800
)

// A message is a JSON-RPC message from the editor.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}

	by string // who has given it in the place of the editor
}

// An editorLink is an editor that talks to the agent.
type editorLink struct {
	o   Options
	ctx context.Context //nolint:containedctx // it ends with the connection

	writing sync.Mutex

	mu       sync.Mutex
	client   editorPeer
	n        int
	asked    map[string]chan message // what the editor was asked, by ID
	doing    map[string]*editorRequest
	queues   map[skein.SessionID]chan struct{} // closed when the last request about a session is answered
	sessions map[skein.SessionID]*session
	work     sync.WaitGroup // requests of the editor
}

// An editorRequest is a request of the editor that has no answer yet.
type editorRequest struct {
	session skein.SessionID
	prompts bool
	waits   bool // it is the prompt of somebody who is attached, and its turn has not come
	cancel  context.CancelFunc
}

// A codedError is an error with a code of its own.
type codedError struct {
	code int
	text string
}

func (e *codedError) Error() string { return e.text }

// Serve answers an editor until its input or ctx ends.
//
// The error says that a session could not be ended well.
func Serve(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &editorLink{
		o: o, ctx: ctx, asked: map[string]chan message{}, doing: map[string]*editorRequest{},
		queues: map[skein.SessionID]chan struct{}{}, sessions: map[skein.SessionID]*session{},
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.read()
	}()
	how := "interrupted"
	select {
	case <-ended:
		how = "done"
	case <-ctx.Done():
	}
	stop()
	closeHubs(c)
	c.work.Wait()
	return c.endAll(how)
}

// read takes lines until the end of the input.
func (c *editorLink) read() {
	in := wire.NewReader(c.o.In, maxLine)
	for {
		line, more, err := in.Next()
		switch {
		case err != nil || c.ctx.Err() != nil:
			return
		case more:
			for more && err == nil {
				_, more, err = in.Next()
			}
			c.refuse(nil, &codedError{invalidRequest, fmt.Sprintf("the line has more than %d bytes", maxLine)})
		case len(bytes.TrimSpace(line)) > 0:
			c.take(line)
		}
	}
}

// take takes a message. It does not wait for anything.
func (c *editorLink) take(line []byte) {
	var m message
	if line = bytes.TrimSpace(line); line[0] == '[' {
		c.refuse(nil, &codedError{invalidRequest, "batches are not supported"})
		return
	}
	if err := json.Unmarshal(line, &m); err != nil {
		code := invalidRequest
		if !json.Valid(line) {
			code = parseError
		}
		c.refuse(nil, &codedError{code, err.Error()})
		return
	}
	switch {
	case m.Method != "" && m.ID == nil:
		c.notified(&m)
	case m.Method != "":
		c.requested(&m)
	case m.ID != nil:
		if answer := c.takeAsked(string(m.ID)); answer != nil {
			answer <- m
		}
	default:
		c.refuse(nil, &codedError{invalidRequest, "neither a request nor an answer"})
	}
}

// notified takes a notification.
func (c *editorLink) notified(m *message) {
	var p struct {
		SessionID skein.SessionID `json:"sessionId"`
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return // nobody to tell
	}
	switch m.Method {
	case "session/cancel":
		c.cancelTurns(p.SessionID)
	case "$/cancel_request":
		c.mu.Lock()
		r := c.doing[string(p.RequestID)]
		c.mu.Unlock()
		if r != nil {
			r.cancel()
		}
	}
}

// cancelTurns cancels every prompt of a session that has no answer yet, but for those of
// others whose turn has not come.
func (c *editorLink) cancelTurns(id skein.SessionID) {
	c.cancel(func(r *editorRequest) bool { return r.prompts && r.session == id })
}

func (c *editorLink) cancel(which func(*editorRequest) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.doing {
		if which(r) {
			r.cancel()
		}
	}
}

// requested starts to answer a request. Requests about one session wait for those before,
// but for the choice of a mode. One that ends the session ends its turn.
func (c *editorLink) requested(m *message) {
	var p struct {
		SessionID skein.SessionID `json:"sessionId"`
		ModeID    string          `json:"modeId"`
		ConfigID  string          `json:"configId"`
		Value     any             `json:"value"`
	}
	_ = json.Unmarshal(m.Params, &p) // answer tells
	if s := c.session(p.SessionID); s != nil {
		switch {
		case m.Method == "session/set_mode":
			s.chooseMode(m, p.ModeID)
			return
		case m.Method == "session/set_config_option" && p.ConfigID == modeID:
			s.chooseMode(m, p.Value)
			return
		}
	}
	ctx, cancel := context.WithCancel(c.ctx)
	r := &editorRequest{session: p.SessionID, prompts: m.Method == "session/prompt", cancel: cancel}
	c.mu.Lock()
	c.doing[string(m.ID)] = r
	c.mu.Unlock()
	answer := func() {
		defer cancel()
		result, then, err := c.answer(ctx, m)
		c.mu.Lock()
		if c.doing[string(m.ID)] == r {
			delete(c.doing, string(m.ID))
		}
		c.mu.Unlock()
		c.reply(m.ID, result, err)
		if err == nil && then != nil {
			then()
		}
	}
	if m.Method == "session/close" || m.Method == "session/delete" {
		c.cancel(func(r *editorRequest) bool { return (r.prompts || r.waits) && r.session == p.SessionID })
	}
	if p.SessionID == "" {
		c.work.Go(answer)
		return
	}
	c.after(p.SessionID, answer)
}

// after runs f when the requests about a session before it are answered.
func (c *editorLink) after(id skein.SessionID, f func()) {
	done := make(chan struct{})
	c.mu.Lock()
	before := c.queues[id]
	c.queues[id] = done
	c.mu.Unlock()
	c.work.Go(func() {
		if before != nil {
			<-before
		}
		f()
		c.mu.Lock()
		if c.queues[id] == done {
			delete(c.queues, id)
		}
		c.mu.Unlock()
		close(done)
	})
}

// reply answers a request.
func (c *editorLink) reply(id json.RawMessage, result any, err error) {
	switch {
	case errors.Is(err, context.Canceled):
		c.refuse(id, &codedError{cancelled, "the request was canceled"})
	case err != nil:
		c.refuse(id, err)
	default:
		c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, skein.MustJSON(result)))
	}
}

// refuse answers a request with an error. A nil id is that of a message that has none.
func (c *editorLink) refuse(id json.RawMessage, err error) {
	code, text := stored.Code(err), c.o.Explain(err)
	if coded := (*codedError)(nil); errors.As(err, &coded) {
		code, text = coded.code, coded.text
	}
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	e := skein.MustJSON(map[string]any{"code": code, "message": text})
	c.work.Go(func() { c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, e)) })
}

// write writes a line. If the editor does not read any more, nothing tells.
func (c *editorLink) write(line []byte) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.o.Out.Write(line) //nolint:errcheck // its input ends too
}

// takeAsked returns where the answer to a request goes, once; nil if it has been given.
func (c *editorLink) takeAsked(id string) chan message {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := c.asked[id]
	delete(c.asked, id)
	return answer
}

// ask makes a request of the editor and returns its result.
//
// The error is the editor's answer, or ctx's.
func (c *editorLink) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	m, err := c.request(ctx, method, params, func(string) {})
	return m.Result, err
}

// request makes a request of the editor and returns its answer. begun is called with the
// request's ID before the editor sees it.
//
// The error is the editor's answer, or ctx's.
func (c *editorLink) request(ctx context.Context, method string, params any, begun func(id string)) (message, error) {
	answer := make(chan message, 1)
	c.mu.Lock()
	c.n++
	id := fmt.Sprintf(`"skein-%d"`, c.n)
	c.asked[id] = answer
	c.mu.Unlock()
	defer c.takeAsked(id)
	begun(id)
	c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, skein.MustJSON(params)))
	select {
	case m := <-answer:
		if m.Error != nil {
			return m, fmt.Errorf("the editor refuses %s: %s", method, m.Error.Message)
		}
		return m, nil
	case <-ctx.Done():
		c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%s}}`+"\n", id))
		return message{}, ctx.Err()
	}
}
