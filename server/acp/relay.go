package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
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
	*programs
	sessions *sessionTable
	server   storeServer
	asked    *openRequests // by the editor
	asking   *openRequests // by the agent
}

func newRelay(ctx context.Context, o Options) *relay {
	p := &programs{o: o, ctx: ctx, agentEnded: make(chan struct{}), own: map[string]chan agentReply{}}
	r := &relay{programs: p, asked: newOpenRequests(), asking: newOpenRequests()}
	r.sessions = &sessionTable{programs: p, open: r.openHub, outer: map[string]*session{}, inner: map[string]*session{}}
	r.server = storeServer{p, r.sessions, make(chan struct{}, atOnce)}
	return r
}

// Serve starts the agent and relays until the editor or the agent ends.
//
// The error says how the agent ended, if that was not well; or that something could not
// be stored.
func Serve(ctx context.Context, o Options) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := newRelay(ctx, o)
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
	err = r.sessions.endAll(how)
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
		s = r.sessions.byOuter(id)
		return r.sessions.innerOf(id)
	}
	asked := r.asked
	if to == r.toEditor {
		asked = r.asking
		rename = func(id string) string {
			s = r.sessions.byInner(id, sessionStart{})
			return string(s.outer)
		}
	}
	edits := wire.Rename(line, all, rename)
	if s != nil {
		s.tooLong(&all[0])
		if all[0].IsRequest() {
			asked.add(all[0].ID, request{method: all[0].Method, s: s, at: r.now()})
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

// answerAll answers the editor's requests that the agent has not answered.
func (r *relay) answerAll(why string) {
	for id, q := range r.asked.takeAll() {
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

// exitError returns how a program ended, nil if that was well.
func exitError(name string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("the agent %s ended with %w", name, exit)
	}
	return err
}
