package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/acp/live"
	"github.com/skein-dev/skein/server/acp/stored"
	"github.com/skein-dev/skein/server/acp/wire"
)

const (
	// mostRecorded is the length of the longest line that is recorded, in bytes.
	mostRecorded = 64 << 20

	// mostLine is how many bytes of a line are looked at. Of a longer one, which passes
	// in pieces, session IDs are replaced only before that place.
	mostLine = 256 << 20

	// grace is how long an agent may take to end once its input has ended.
	grace = 10 * time.Second
)

// Options say what Serve connects.
type Options struct {
	Store skein.Store
	User  skein.User
	Now   func() time.Time

	Program, Version, Host string // of skein, for the record

	Command []string // the agent
	Env     []string
	In      io.Reader      // what the editor says
	Out     io.WriteCloser // what it is told
	Errs    io.Writer      // the agent's stderr

	// Checkout returns what a folder is a checkout of, and its project; may be nil.
	Checkout func(dir string) (skein.Checkout, string)

	// Write writes a session where an agent keeps its own, to be continued in a
	// folder. It returns how the agent calls it, and what could not be kept, for
	// people. Its error says that the agent's sessions cannot be written. May be nil.
	Write func(ctx context.Context, agent string, id skein.SessionID, cwd string) (inner string, lost []string, err error)

	Dir string // the working directory

	Live live.Sockets // where other programs attach; zero: none can
}

// A relay is the state of one connection.
type relay struct {
	o        Options
	ctx      context.Context //nolint:containedctx // it ends with the connection
	toAgent  *peerQueue
	toEditor *peerQueue

	mu     sync.Mutex
	outer  map[string]*session
	inner  map[string]*session
	asked  map[string]request // by the editor, by ID
	asking map[string]request // by the agent
	given  map[string]bool    // what a guest has answered in the place of the editor
	newest sessionStart       // of the newest session/new
	client peerInfo
	agent  agentPeer

	own        map[string]chan agentReply // requests of the relay itself
	n          int                        // how many there were
	expected   []*session                 // whose names in the agent are not known yet
	notices    bool                       // the editor shows them
	serving    chan struct{}              // has an element for each request that is served
	agentEnded chan struct{}              // closed once the agent has said everything
}

// A request is one that has no answer yet.
type request struct {
	method string
	s      *session // nil if it names none
	params []byte
	at     skein.Time
}

// mostAsked limits how many requests without an answer are remembered.
const mostAsked = 10_000

// Serve starts the agent and relays until the editor or the agent ends.
//
// The error says how the agent ended, if that was not well; or that something could not
// be stored.
func Serve(ctx context.Context, o Options) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := &relay{o: o, ctx: ctx, outer: map[string]*session{}, inner: map[string]*session{}, asked: map[string]request{}, asking: map[string]request{}, given: map[string]bool{}}
	r.own, r.serving, r.agentEnded = map[string]chan agentReply{}, make(chan struct{}, atOnce), make(chan struct{})
	p, err := start(o)
	if err != nil {
		return err
	}
	defer p.kill()
	r.toAgent, r.toEditor = newPeerQueue(p.in), newPeerQueue(o.Out)
	agentSaid, editorSaid := r.agentEnded, make(chan struct{})
	go r.read(agentSaid, p.out, r.fromAgent, r.toEditor)
	go r.read(editorSaid, o.In, r.fromEditor, r.toAgent)

	how := "done"
	select {
	case <-editorSaid:
		p.endInput(r.toAgent)
	case <-ctx.Done():
		how = "interrupted"
		p.endInput(r.toAgent)
	case <-agentSaid:
	}
	p.killAfter(grace)
	<-agentSaid // everything that it said has been taken
	died := p.wait()
	if died != nil && how == "done" {
		how = "error"
	}
	r.answerAll("the agent has ended")
	err = r.end(how)
	late := time.AfterFunc(time.Second, stop)
	r.toEditor.end(ctx.Done())
	late.Stop()
	if how == "interrupted" {
		died = context.Canceled
	}
	return errors.Join(died, err)
}

// read takes lines until the end, however the stream ended, and closes done.
func (r *relay) read(done chan<- struct{}, from io.Reader, take func(line []byte), to *peerQueue) {
	defer close(done)
	in := wire.NewReader(from, mostLine)
	for {
		line, more, err := in.Next()
		switch {
		case err != nil:
			return
		case more:
			if err := r.long(line, in, to); err != nil {
				return
			}
		default:
			take(line)
		}
	}
}

// long passes on a line of which only the beginning is known.
func (r *relay) long(line []byte, in *wire.Reader, to *peerQueue) error {
	all, _ := wire.Scan(line)
	var s *session
	rename := func(id string) string {
		s = r.byOuter(id)
		if s == nil {
			return id
		}
		return s.inner
	}
	if to == r.toEditor {
		rename = func(id string) string {
			s = r.byInner(id, sessionStart{})
			return string(s.outer)
		}
	}
	edits := wire.Rename(line, all, rename)
	if s != nil {
		r.tooLong(s, &all[0])
		if all[0].IsRequest() {
			r.ask(to, &all[0], request{method: all[0].Method, s: s, at: r.now()})
		}
		l := s.toAgent
		if to == r.toEditor {
			l = s.toEditor
		}
		l.idle()
		defer l.mu.Unlock()
	}
	to.whole.Lock()
	defer to.whole.Unlock()
	to.piece(wire.Apply(line, edits))
	for {
		piece, more, err := in.Next()
		if err != nil {
			return err
		}
		if to.piece(piece); !more {
			return nil
		}
	}
}

// tooLong records that a message is too long to be recorded.
func (r *relay) tooLong(s *session, m *wire.Message) {
	s.rec.Note("not_recorded", skein.MustJSON(map[string]any{"method": m.Method, "update": m.Update, "reason": fmt.Sprintf("the line has more than %d bytes", mostRecorded)}))
	if m.Method == "session/prompt" {
		text := fmt.Sprintf("[a prompt of more than %d bytes, which was not recorded]", mostRecorded)
		s.rec.Prompt(skein.MustJSON(map[string]any{"prompt": []any{map[string]any{"type": "text", "text": text}}}))
	}
}

// ask remembers a request that goes to a program.
func (r *relay) ask(to *peerQueue, m *wire.Message, q request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := r.asked
	if to == r.toEditor {
		open = r.asking
	}
	if len(open) < mostAsked {
		open[m.ID] = q
	}
	if to == r.toEditor {
		delete(r.given, m.ID)
	}
}

// answered returns the request that an answer is for.
func (r *relay) answered(open map[string]request, id string) (request, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, ok := open[id]
	delete(open, id)
	return q, ok
}

// answerAll answers the editor's requests that the agent has not answered.
func (r *relay) answerAll(why string) {
	r.mu.Lock()
	open := r.asked
	r.asked = map[string]request{}
	r.mu.Unlock()
	for id, q := range open {
		line := failure(id, why)
		if q.s == nil {
			r.toEditor.put(line)
			continue
		}
		if q.method == "session/prompt" {
			q.s.rec.Answered(nil, skein.MustJSON(map[string]any{"code": stored.Internal, "message": why}))
			q.s.live.End(nil, errors.New(why))
		}
		q.s.toEditor.pass(line, func() []byte {
			if err := q.s.rec.Flush(); err != nil {
				return failure(id, notStored(err))
			}
			return line
		})
		q.s.toEditor.idle()
		q.s.toEditor.mu.Unlock()
	}
}

// failure returns the answer to a request that failed.
func failure(id, why string) []byte { return failed(id, stored.Internal, why) }

func failed(id string, code int, why string) []byte {
	text := skein.MustJSON(map[string]any{"code": code, "message": why})
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", id, text)
}

func notStored(err error) string { return "skein could not store this: " + err.Error() }

func (r *relay) now() skein.Time { return skein.At(r.o.Now()) }

// exitError returns how a program ended, nil if that was well.
func exitError(name string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("the agent %s ended with %w", name, exit)
	}
	return err
}
