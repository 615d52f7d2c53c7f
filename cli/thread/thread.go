package thread

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/internal/guidance"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/render"
)

// A Thread is an agent.Thread and what a command needs with it. Its methods are not
// safe for concurrent use.
type Thread struct {
	*agent.Thread
	Job     *job.Job
	Store   skein.Store // as the session's user sees it
	Roster  *roster.Roster
	Team    *roster.Team // who answers; closed with the thread
	Options *Options
	face    Face
	At      Selection
	Allowed *Allowed    // tools that need not ask
	auto    atomic.Bool // the mode is Auto; see [HeedMode]
	answers int         // turns answered by this process
	budgets []string    // that the person was told of

	guidance guidance.Guidance // as read when the thread was opened

	log keptLog
}

// OpenAt opens the thread of the session at a spot, such as one that the person
// picked from a list, or a new one. Errors are those of open.
func (o *Options) OpenAt(ctx context.Context, j *job.Job, at Selection, f Face) (_ *Thread, err error) {
	if f.Tell == nil {
		f.Tell = j.Say
	}
	t := &Thread{Job: j, Options: o, face: f, At: at, Store: j.Store.As(at.user()), Allowed: allowed(j, at.Project(), o.Allow)}
	if err := t.settle(ctx); err != nil {
		return nil, err
	}
	HeedMode(t, o.Mode)
	t.log = keptLog{logs: sessions.Logs(j, t.Store), tell: f.Tell}
	t.Roster = Roster(j, t.Store, t.Cwd())
	t.Roster.Effort = cmp.Or(llm.Effort(o.Effort), t.Roster.Effort)
	t.Roster.Files.Editor, t.Roster.Servers = o.Editor, o.Servers
	t.guide()
	if t.Team, err = t.answering(ctx); err != nil {
		return nil, err
	}
	if t.Thread, err = t.begin(ctx); err != nil {
		return nil, errors.Join(locked(err), t.Team.Close())
	}
	if t.Begun() {
		t.log.mend(ctx, t.ID())
	}
	t.log.sweep(ctx, sessions.Logs(j, j.Store))
	if err := t.keepAgent(ctx); err != nil {
		return nil, errors.Join(err, t.End(ctx, string(agent.Error)))
	}
	return t, nil
}

// keepAgent stores the agent that --agent names in an existing session.
func (t *Thread) keepAgent(ctx context.Context) error {
	s, a := &t.At.Session, t.Team.Agent
	if t.Options.Agent == "" || t.At.IsNew() || s.Agent == a.Name && s.Profile == a.Profile {
		return nil
	}
	return t.SetAgent(ctx, a)
}

// begin opens the agent's thread.
func (t *Thread) begin(ctx context.Context) (*agent.Thread, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "" // informative only
	}
	return agent.Open(ctx, agent.Options{
		Store:    t.Store,
		Session:  t.At.stored(),
		Created:  t.At.Created,
		TakeOver: t.Options.TakeOver,
		Program:  t.face.Program,
		Version:  t.Job.Version,
		Host:     host,
		Agent:    t.Options.Mode.of(t.Team.Agent),
		Stays:    t.face.Stays,
		Observe:  t.observe,
		Decides:  t.decides,
		Approve:  t.approve,
		Now:      t.Job.Now,
		Wait:     t.Job.Wait,
	})
}

// observe passes on what happens, and tells the ID of a new session.
func (t *Thread) observe(u agent.Update) {
	if u.Kind == agent.Stored {
		id := t.At.Session.ID // if the thread is still being opened
		if t.Thread != nil {
			id = t.ID()
		}
		t.log.add(cmp.Or(u.Child, id), u.Events)
		if u.Child == "" && len(u.Events) > 0 && u.Events[0].Kind == skein.KindCreated {
			t.face.Tell("session %s", t.ID())
		}
	}
	if t.face.Observe != nil {
		t.face.Observe(u)
	}
}

// Cwd returns the folder in which the session's tools work.
func (t *Thread) Cwd() string {
	if t.At.IsNew() {
		return t.At.Created.Cwd
	}
	return t.At.Session.Cwd
}

// settle prepares the session: it plans a fork of it, if that is wanted, and makes
// sure that its folder exists.
func (t *Thread) settle(ctx context.Context) error {
	if t.Options.Fork && !t.At.Forked {
		if t.At.IsNew() {
			return fault.Usage("--fork: there is no session to fork yet")
		}
		t.At = forkAt(t.Job, t.At.Session, t.At.Session.Last, "")
	}
	if t.At.Session.ID == "" {
		return nil
	}
	return t.findFolder(ctx)
}

// findFolder makes sure that the session's folder exists.
func (t *Thread) findFolder(ctx context.Context) error {
	s := &t.At.Session
	here, err := t.Options.place(t.Job)
	if err != nil {
		return err
	}
	want, clone := here.Cwd, s.Project != here.Project && s.Checkout.Repository != "" && s.Checkout.Repository == here.Checkout.Repository
	if t.Options.Cwd == "" && !clone && sessions.Away(*s) {
		found, err := sessions.Clone(ctx, t.Job, *s)
		if err != nil {
			return err
		}
		if clone = found != ""; clone {
			want = found
			here.Checkout, here.Project = t.Job.Checkout(found)
		}
	}
	if t.Options.Cwd == "" && !clone {
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
	case t.At.Forked:
		t.At.Created.Cwd, t.At.Created.Project, t.At.Created.Checkout = want, here.Project, here.Checkout.Known()
		return nil
	case want == s.Cwd, s.LockedBy != "" && !t.Options.TakeOver:
		return nil // if it is locked, opening it returns that error
	}
	c := skein.Changed{Cwd: &want}
	if clone || !there(s.Project) {
		c.Project, c.Checkout = &here.Project, here.Checkout.Known()
		s.Project, s.Checkout = here.Project, here.Checkout
	}
	if _, err := skein.Add(ctx, t.Store, s.ID, skein.NewEvent(skein.KindChanged, skein.At(t.Job.Now()), c)); err != nil {
		return err
	}
	s.Cwd = want
	if clone {
		t.face.Tell("session %s was begun in another clone of %s; it continues in %s", sessions.ShortID(s.ID), render.Line(s.Checkout.Repository), t.Job.Tilde(want))
	}
	return nil
}

func there(folder string) bool {
	info, err := os.Stat(folder)
	return err == nil && info.IsDir()
}

// elsewhere asks whether the session may continue in another folder, because its own
// is gone.
func (t *Thread) elsewhere(ctx context.Context, folder string) error {
	gone := fault.Advise(fault.Missing("the folder %s of session %s is gone", t.At.Session.Cwd, sessions.ShortID(t.At.Session.ID)),
		"%s", elsewhereHint(t.At.Session))
	if t.face.Ask == nil {
		return gone
	}
	r, err := t.face.Ask(ctx, job.Question{Text: fmt.Sprintf("The session's folder %s is gone. Go on in %s?", t.Job.Tilde(t.At.Session.Cwd), t.Job.Tilde(folder))})
	if err == nil && r == job.No {
		err = gone
	}
	return err
}

// elsewhereHint says where a session whose folder is gone can continue.
func elsewhereHint(s skein.Session) string {
	if clone := sessions.ToClone(s); clone != "" {
		return "clone its repository and go on there: " + clone + "\nor go on in another folder: --cwd FOLDER"
	}
	return "go on in another one: --cwd FOLDER"
}

// locked adds to err what this command can do about a lock.
func locked(err error) error {
	if l := (*skein.LockedError)(nil); errors.As(err, &l) {
		return fault.Advise(&fault.StatedError{Text: "session is locked by " + whoIs(l.Holder), Kind: skein.ErrLocked}, "use --fork to branch off it, or --take-over to end its turn")
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

// End ends the work on the thread; how is done, interrupted or error. It says
// which session that was and how to resume it, unless that is not wanted.
func (t *Thread) End(ctx context.Context, how string) error {
	ctx = context.WithoutCancel(ctx)
	begun := t.Begun()
	err := errors.Join(t.Close(ctx, how), t.Team.Close())
	t.log.close()
	if begun && !t.Options.NoHint {
		t.face.Tell("This was session %s\nResume with: skein chat -r %s", t.ID(), terminal.ShellWord(sessions.ShortID(t.ID())))
	}
	return err
}

// Say sends text as the person's prompt, with the files and agents that it mentions
// with @, and returns the outcome of the turn. If another program has just taken
// the new session's key, it continues that session, or uses another key. Then the
// session may get a title. Errors are those of agent.Thread.Turn and of open.
func (t *Thread) Say(ctx context.Context, text string) (agent.Outcome, error) {
	return t.SayWith(ctx, text, Attached{})
}

// SayWith is Say with attachments.
//
// Errors are those of Say.
func (t *Thread) SayWith(ctx context.Context, text string, with Attached) (agent.Outcome, error) {
	out, err := t.Answer(ctx, text, with)
	return out, t.Titled(ctx, out, err)
}

// Answer is SayWith without the title.
//
// The error is that of the turn; see agent.Thread.Turn.
func (t *Thread) Answer(ctx context.Context, text string, with Attached) (agent.Outcome, error) {
	if task := t.Team.Definition.Task; task != "" && !t.Begun() {
		text = Joined(task, text)
	}
	m, blobs, err := attach(t, text)
	if err != nil {
		return agent.Outcome{}, err
	}
	m.Parts = append(m.Parts, with.Parts...)
	return t.send(ctx, m, append(blobs, with.Blobs...))
}

// send sends a message as the person's prompt.
func (t *Thread) send(ctx context.Context, m skein.Message, blobs []skein.Blob) (agent.Outcome, error) {
	if err := t.withinBudget(ctx); err != nil {
		return agent.Outcome{}, err
	}
	out, err := t.Turn(ctx, m, blobs...)
	for errors.Is(err, skein.ErrExists) && !t.Begun() && t.At.Again != nil {
		if err := t.Again(ctx); err != nil {
			return out, err
		}
		out, err = t.Turn(ctx, m, blobs...)
	}
	return out, err
}

// AskAgain lets the last prompt be answered, if it was not. Errors are those of
// agent.Thread.Retry.
func (t *Thread) AskAgain(ctx context.Context) (agent.Outcome, error) {
	if err := t.withinBudget(ctx); err != nil {
		return agent.Outcome{}, err
	}
	out, err := t.Retry(ctx)
	return out, t.Titled(ctx, out, err)
}

// Again moves the thread to another spot, because its key was taken.
//
// The error is that of opening the agent's thread.
func (t *Thread) Again(ctx context.Context) error {
	at, err := t.At.Again(ctx)
	if err != nil {
		return err
	}
	if err := t.Close(ctx, "done"); err != nil { // nothing was stored
		return err
	}
	t.At = at
	next, err := t.begin(ctx)
	if err != nil {
		return locked(err)
	}
	t.Thread = next
	return nil
}

// Titled lets the model give the session a title after its second turn, if the
// settings allow it and it has none yet. It ignores errors of the suggestion, except
// skein.ErrFenced.
func (t *Thread) Titled(ctx context.Context, out agent.Outcome, err error) error {
	if err != nil || out.Stop != agent.Done {
		return err
	}
	if t.answers++; t.Job.Settings.Text("titles") == "off" {
		return nil
	}
	s, err := t.Session(ctx)
	if err != nil || s.Turns < 2 || s.Title != "" {
		return err
	}
	if err := t.Suggest(ctx); errors.Is(err, skein.ErrFenced) {
		return err
	}
	return nil
}

// Joined returns two texts with a blank line between them, if there are two.
func Joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
