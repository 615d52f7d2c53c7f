package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
)

// A Thread is a session that this process works on. Its methods must be called
// from one goroutine, except Interrupt.
type Thread struct {
	requester
	depth int // number of delegates above it

	mu   sync.Mutex
	stop context.CancelFunc // of the turn under way; nil if there is none
}

// Open takes the lease of the session and returns its thread. Calls that were
// running when their program died are marked as uncertain. A new session has
// its ID from now on, but is not stored before its first message.
//
// The error wraps [skein.ErrLocked] (as a *[skein.LockedError]),
// [skein.ErrNotFound], or is one of the Store's.
func Open(ctx context.Context, o Options) (*Thread, error) {
	return openAt(ctx, o, 0)
}

func openAt(ctx context.Context, o Options, depth int) (_ *Thread, err error) {
	o = withDefaults(o)
	t := &Thread{depth: depth}
	t.o, t.id, t.agent, t.writer = o, o.Session, o.Agent, ours+string(skein.NewSessionID(o.Now()))
	t.charged, t.called = map[string]bool{}, map[string]bool{}
	if t.id == "" {
		t.id = skein.NewSessionID(o.Now())
		t.about, t.window, t.enough = o.Created, []skein.Event{}, manyEvents
		if err := t.inherit(ctx); err != nil {
			return nil, err
		}
	} else if _, err := o.Store.Session(ctx, t.id); err != nil { // without the session, the lease would be kept for nothing
		return nil, fmt.Errorf("agent: open %s: %w", t.id, err)
	}
	defer skein.Wrapf(&err, "agent: open %s", t.id)
	t.lease, err = skein.LeasesOf(o.Store).Acquire(ctx, t.id, skein.LeaseRequest{Program: o.Program, TakeOver: o.TakeOver})
	if err != nil {
		return nil, err
	}
	if o.Session != "" {
		err = t.goOn(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, skein.LeasesOf(o.Store).Release(context.WithoutCancel(ctx), t.lease))
	}
	return t, nil
}

func withDefaults(o Options) Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = sleep.For
	}
	o.Attempts = cmp.Or(o.Attempts, 5)
	if o.Observe == nil {
		o.Observe = func(Update) {}
	}
	return o
}

// inherit fills in what a fork without events of its own takes from its parent.
func (t *Thread) inherit(ctx context.Context) error {
	p := t.about.Parent
	if p == nil || p.Why != skein.Fork {
		return nil
	}
	s, err := t.o.Store.Session(ctx, p.Session)
	t.about.Cwd, t.about.Project = cmp.Or(t.about.Cwd, s.Cwd), cmp.Or(t.about.Project, s.Project)
	return err
}

// goOn prepares the thread to continue a session that is stored.
func (t *Thread) goOn(ctx context.Context) error {
	s, err := t.o.Store.Session(ctx, t.id)
	if err != nil {
		return err
	}
	t.begun, t.last, t.base = true, s.Last, s.Base
	t.about = skein.Created{User: s.User, Surface: s.Surface, Project: s.Project, Cwd: s.Cwd}
	return t.settleCalls(ctx, s.Open)
}

// Begin stores the session of t, if it is new, before its first message. Errors are the
// Store's.
func Begin(ctx context.Context, t *Thread) error {
	if t.begun {
		return nil
	}
	return t.work(ctx, nil)
}

// ID returns the session's ID, even before the session is stored.
func (t *Thread) ID() skein.SessionID { return t.id }

// Begun reports whether the session is stored.
func (t *Thread) Begun() bool { return t.begun }

// Session returns the session as it is stored.
// The error wraps [skein.ErrNotFound] before the first message.
func (t *Thread) Session(ctx context.Context) (skein.Session, error) {
	return t.o.Store.Session(ctx, t.id)
}

// Agent returns the agent that answers now.
func (t *Thread) Agent() Agent { return t.agent }

// Interrupt ends the current turn as if its ctx had ended. It is safe for
// concurrent use; without a turn it does nothing.
func (t *Thread) Interrupt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop != nil {
		t.stop()
	}
}

// Close appends how the work ended (done, interrupted, error), if this process
// has worked on the session and does not stay, and releases the lease. Errors
// are the Store's.
func (t *Thread) Close(ctx context.Context, how string) (err error) {
	defer skein.Wrapf(&err, "agent: close %s", t.id)
	if t.fenced == nil {
		if err = t.settle(ctx); err == nil && t.at && !t.o.Stays {
			err = t.put(ctx, nil, skein.NewEvent(skein.KindEnded, t.now(), t.program(how)))
		}
	}
	return errors.Join(err, skein.LeasesOf(t.o.Store).Release(context.WithoutCancel(ctx), t.lease))
}

func (w *sessionWriter) program(how string) skein.Program {
	return skein.Program{Program: w.o.Program, Version: w.o.Version, Host: w.o.Host, How: how}
}

func (w *sessionWriter) now() skein.Time { return skein.At(w.o.Now()) }

// SetAgent makes a the agent that answers from now on; the thread continues.
// Errors are the Store's.
func (t *Thread) SetAgent(ctx context.Context, a Agent) (err error) {
	defer skein.Wrapf(&err, "agent: change the agent of %s", t.id)
	if t.begun {
		c := skein.Changed{Agent: &a.Name, Profile: &a.Profile}
		if len(a.Config) > 0 {
			c.Config = &a.Config
		}
		if a.Model != nil {
			about := a.Model.About()
			c.Provider, c.Model = &about.Provider, &about.Model
		}
		if err := t.put(ctx, nil, skein.NewEvent(skein.KindChanged, t.now(), c)); err != nil {
			return err
		}
	}
	t.agent, t.room = a, 0
	t.window = nil // the new agent may be shown more
	return nil
}

// Rename gives the session a title chosen by a person. Errors are the Store's.
func (t *Thread) Rename(ctx context.Context, title string) (err error) {
	defer skein.Wrapf(&err, "agent: rename %s", t.id)
	e := skein.NewEvent(skein.KindTitled, t.now(), skein.Titled{Title: skein.ShortTitle(title), By: skein.ByPerson})
	if !t.begun {
		t.early = []skein.Event{e}
		return nil
	}
	return t.put(ctx, nil, e)
}
