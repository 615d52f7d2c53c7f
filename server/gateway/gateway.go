package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/redact"
)

// Options are the settings of a Gateway.
type Options struct {
	Store    skein.Store
	User     skein.User // the owner of the sessions
	Talker   Talker
	Surfaces []Surface
	Allow    map[string][]string // who may talk, by the name of a surface: IDs, @names, or * for everybody
	Inbox    string              // folder
	Secrets  *redact.Redactor    // masks secrets in what is sent
	Log      *slog.Logger
	Now      func() time.Time
	Wait     func(ctx context.Context, d time.Duration) error // between two tries; nil sleeps
}

// A Gateway turns messages from elsewhere into turns. Make one with [New].
type Gateway struct {
	Options
	inbox   *inbox
	lock    *flock.Flock // of the inbox
	waiting []Message    // messages from before the start
	sent    repeats

	mu       sync.Mutex
	ctx      context.Context  //nolint:containedctx // of the run; nil before
	early    []*queuedMessage // came before the run
	closed   bool
	queues   map[string]*keyQueue
	sessions map[skein.SessionID]*heldSession
	working  sync.WaitGroup
}

// New returns a Gateway, and reads the messages that wait in its inbox, which
// it holds alone until Run or Close ends.
//
// The error wraps [skein.ErrLocked] if another gateway has the inbox; others
// are the disk's.
func New(o Options) (_ *Gateway, err error) {
	defer skein.Wrapf(&err, "gateway: inbox %s", o.Inbox)
	if o.Wait == nil {
		o.Wait = sleep.For
	}
	g := &Gateway{Options: o, queues: map[string]*keyQueue{}, sessions: map[skein.SessionID]*heldSession{}}
	if g.lock, err = lockInbox(o.Inbox); err != nil {
		return nil, err
	}
	if g.inbox, g.waiting, err = openInbox(o.Inbox, o.Now); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Close releases the inbox; it is for a gateway that was not run. Messages stay
// in the inbox. Errors are the disk's.
func (g *Gateway) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, it := range g.early {
		if it.heard != nil {
			close(it.heard)
		}
	}
	g.early = nil
	return g.lock.Close()
}

// Run answers the messages that wait, and new ones, until ctx ends; then it
// waits for the running turns, which are cut off and resumed by the next run.
// It may be called once.
//
// The error joins those of the surfaces that failed for good. The others go on
// in the meantime.
func (g *Gateway) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, g.Close()) }()
	g.begin(ctx)
	var ended sync.WaitGroup
	errs := make([]error, len(g.Surfaces))
	for i, s := range g.Surfaces {
		ended.Go(func() {
			if err := s.Run(ctx, g.Take); err != nil && ctx.Err() == nil {
				errs[i] = fmt.Errorf("gateway: %s: %w", s.Name(), err)
				g.Log.Error("a surface failed and has stopped", "surface", s.Name(), "err", err)
			}
		})
	}
	ended.Wait()
	err = errors.Join(errs...)
	if err == nil || slices.Contains(errs, nil) {
		<-ctx.Done() // routes may bring more
	}
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.working.Wait()
	return err
}

// begin starts the answers to waiting messages: those from before the start
// first.
func (g *Gateway) begin(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ctx = ctx
	for _, m := range g.waiting {
		g.line(&queuedMessage{Message: m})
	}
	for _, it := range g.early {
		g.line(it)
	}
	g.waiting, g.early = nil, nil
}

// Take accepts a message: when it returns nil, the message is on disk and will
// be answered, or came before, or is from a stranger. It is safe for concurrent
// use.
//
// The error wraps [skein.ErrClosed], [skein.ErrInvalid] if the key is not
// valid, or is the disk's.
func (g *Gateway) Take(_ context.Context, m Message) (err error) {
	defer skein.Wrapf(&err, "gateway: store message %s under %s", m.ID, m.Key)
	if ok, err := g.may(m); !ok || err != nil {
		return err
	}
	fresh, err := g.inbox.put(m)
	if err != nil || !fresh {
		return err
	}
	return g.enqueue(&queuedMessage{Message: m})
}

// Ask accepts a message, as Take does, and waits for its answer, which is not
// sent anywhere else. For a message that came before, the answer is the one of
// that time. For a stranger's, it is "".
//
// The error is that of Take, or ctx's: the message is answered anyway.
func (g *Gateway) Ask(ctx context.Context, m Message) (_ Answer, err error) {
	defer skein.Wrapf(&err, "gateway: ask message %s under %s", m.ID, m.Key)
	if ok, err := g.may(m); !ok || err != nil {
		return Answer{}, err
	}
	fresh, err := g.inbox.put(m)
	if err != nil {
		return Answer{}, err
	}
	heard := make(chan Answer, 1)
	if err := g.enqueue(&queuedMessage{Message: m, heard: heard, before: !fresh}); err != nil {
		return Answer{}, err
	}
	select {
	case a, ok := <-heard:
		if !ok {
			return a, skein.ErrClosed
		}
		return a, nil
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// may reports whether the writer of m is on the allow list of its surface.
func (g *Gateway) may(m Message) (bool, error) {
	if err := Check(m.Key); err != nil {
		return false, err
	}
	for _, name := range g.Allow[m.Surface] {
		if name == "*" || slices.ContainsFunc(m.From, func(f string) bool { return f != "" && strings.EqualFold(f, name) }) {
			return true, nil
		}
	}
	g.Log.Warn("a message from a sender who is not on the allow list was ignored", "surface", m.Surface, "key", m.Key, "from", strings.Join(m.From, " "))
	return false, nil
}

// surface returns the surface of that name; nil if it is no longer set up.
func (g *Gateway) surface(name string) Surface {
	for _, s := range g.Surfaces {
		if s.Name() == name {
			return s
		}
	}
	return nil
}
