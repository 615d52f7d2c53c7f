package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/internal/guidance"
)

// A thread is an agent.Thread and what a command needs with it. Its methods are not
// safe for concurrent use.
type thread struct {
	*agent.Thread
	job     *job
	store   skein.Store // as the session's user sees it
	roster  *roster.Roster
	team    *roster.Team // who answers; closed with the thread
	options *threadOptions
	face    face
	at      spot
	allowed *allowed // tools that need not ask
	answers int      // turns answered by this process

	guidance guidance.Guidance // as read when the thread was opened

	logs      *sessionlog.Logs // nil if none are kept
	logFailed bool             // and the person was told
	swept     chan error       // receives the result of removing dead logs; nil if none are removed
}

// openAt opens the thread of the session at a spot, such as one that the person
// picked from a list, or a new one. Errors are those of open.
func (o *threadOptions) openAt(ctx context.Context, j *job, at spot, f face) (_ *thread, err error) {
	if f.tell == nil {
		f.tell = j.say
	}
	t := &thread{job: j, options: o, face: f, at: at, store: j.store.As(at.user()), allowed: j.allowed(at.project(), o.allow)}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	t.logs = j.logs(t.store)
	t.roster = j.roster(t.store, t.cwd())
	t.guide()
	if t.team, err = t.answering(ctx); err != nil {
		return nil, err
	}
	if t.Thread, err = t.begin(ctx); err != nil {
		return nil, errors.Join(locked(err), t.team.Close())
	}
	t.openLog(ctx)
	if err := t.keepAgent(ctx); err != nil {
		return nil, errors.Join(err, t.close(ctx, string(agent.Error)))
	}
	return t, nil
}

// keepAgent stores the agent that --agent names in an existing session.
func (t *thread) keepAgent(ctx context.Context) error {
	s, a := &t.at.session, t.team.Agent
	if t.options.agent == "" || t.at.isNew() || s.Agent == a.Name && s.Profile == a.Profile {
		return nil
	}
	return t.SetAgent(ctx, a)
}

// begin opens the agent's thread.
func (t *thread) begin(ctx context.Context) (*agent.Thread, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "" // informative only
	}
	return agent.Open(ctx, agent.Options{
		Store:    t.store,
		Session:  t.at.stored(),
		Created:  t.at.created,
		TakeOver: t.options.takeOver,
		Program:  t.face.program,
		Version:  t.job.Version,
		Host:     host,
		Agent:    t.team.Agent,
		Stays:    t.face.stays,
		Observe:  t.observe,
		Approve:  t.approve,
		Now:      t.job.Now,
		Wait:     t.job.Wait,
	})
}

// observe passes on what happens, and tells the ID of a new session.
func (t *thread) observe(u agent.Update) {
	if u.Kind == agent.Stored {
		t.log(u)
		if u.Child == "" && len(u.Events) > 0 && u.Events[0].Kind == skein.KindCreated {
			t.face.tell("session %s", t.ID())
		}
	}
	if t.face.observe != nil {
		t.face.observe(u)
	}
}

// cwd returns the folder in which the session's tools work.
func (t *thread) cwd() string {
	if t.at.isNew() {
		return t.at.created.Cwd
	}
	return t.at.session.Cwd
}

// settle prepares the session: it plans a fork of it, if that is wanted, and makes
// sure that its folder exists.
func (t *thread) settle(ctx context.Context) error {
	if t.options.fork && !t.at.forked {
		if t.at.isNew() {
			return usagef("--fork: there is no session to fork yet")
		}
		t.at = t.job.forkAt(t.at.session, t.at.session.Last, "")
	}
	if t.at.session.ID == "" {
		return nil
	}
	return t.findFolder(ctx)
}

// findFolder makes sure that the session's folder exists.
func (t *thread) findFolder(ctx context.Context) error {
	s := &t.at.session
	want, _, err := t.options.place(t.job)
	if err != nil {
		return err
	}
	if t.options.cwd == "" {
		if there(s.Cwd) {
			return nil
		}
		if s.Cwd != "" {
			if err := t.elsewhere(ctx, want); err != nil {
				return err
			}
		}
	}
	switch {
	case t.at.forked:
		t.at.created.Cwd = want
		return nil
	case want == s.Cwd, s.LockedBy != "" && !t.options.takeOver:
		return nil // if it is locked, opening it returns that error
	}
	if _, err := skein.Add(ctx, t.store, s.ID, skein.NewEvent(skein.KindChanged, skein.At(t.job.Now()), skein.Changed{Cwd: &want})); err != nil {
		return err
	}
	s.Cwd = want
	return nil
}

func there(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}

// elsewhere asks whether the session may continue in another folder, because its own
// is gone.
func (t *thread) elsewhere(ctx context.Context, folder string) error {
	gone := advise(missing("the folder %s of session %s is gone", t.at.session.Cwd, shortID(t.at.session.ID)),
		"go on in another one: --cwd FOLDER")
	if t.face.ask == nil {
		return gone
	}
	r, err := t.face.ask(ctx, question{text: fmt.Sprintf("The session's folder %s is gone. Go on in %s?", t.job.tilde(t.at.session.Cwd), t.job.tilde(folder))})
	if err == nil && r == no {
		err = gone
	}
	return err
}

// locked adds to err what this command can do about a lock.
func locked(err error) error {
	if l := (*skein.LockedError)(nil); errors.As(err, &l) {
		return advise(&told{"session is locked by " + whoIs(l.Holder), skein.ErrLocked}, "use --fork to branch off it, or --take-over to end its turn")
	}
	return err
}

// whoIs says who holds a lease, and on which machine, if on another one.
func whoIs(h skein.Holder) string {
	host, err := os.Hostname()
	if h.PID == 0 || h.Host == "" || err != nil || h.Host == host {
		return h.String()
	}
	return h.String() + " on " + h.Host
}

// close ends the work on the thread; how is done, interrupted or error. It says
// which session that was and how to resume it, unless that is not wanted.
func (t *thread) close(ctx context.Context, how string) error {
	ctx = context.WithoutCancel(ctx)
	begun := t.Begun()
	err := errors.Join(t.Close(ctx, how), t.team.Close())
	t.closeLog()
	if begun && !t.options.noHint {
		t.face.tell("This was session %s\nResume with: skein chat -r %s", t.ID(), shellWord(shortID(t.ID())))
	}
	return err
}
