package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/server/gateway"
)

// A messenger lets agents answer messages from elsewhere. It implements
// [gateway.Talker].
type messenger struct {
	job   *job.Job
	allow []string // tools that run without asking
}

// Talk implements [gateway.Talker].
func (w *messenger) Talk(ctx context.Context, t gateway.Talk) (a gateway.Answer, err error) {
	th, notes, err := w.open(ctx, t, "")
	if err != nil {
		return a, thread.NoModel(err)
	}
	out, err := sayAs(ctx, th, t.ID, t.Text)
	how := string(out.Stop)
	if err != nil {
		how = string(agent.Error)
	}
	a.Session, a.Text = th.ID(), out.Text
	switch out.Stop {
	case agent.MaxSteps:
		notes.tell("the agent reached its limit of steps; to continue, say: go on")
	case agent.Timeout:
		notes.tell("the agent reached its limit of time; to continue, say: go on")
	}
	err = errors.Join(thread.NoModel(err), th.End(ctx, how))
	a.Text = thread.Joined(a.Text, notes.text())
	return a, err
}

// notes are the lines that are sent along with an answer.
type notes struct{ lines []string }

func (n *notes) tell(format string, args ...any) {
	if format != "session %s" { // people elsewhere have no use for the ID
		n.lines = append(n.lines, "_("+fmt.Sprintf(format, args...)+")_")
	}
}

func (n *notes) text() string { return strings.Join(n.lines, "\n") }

// open opens the session of the talk; name is the agent that is to answer, "" for
// the current one.
func (w *messenger) open(ctx context.Context, t gateway.Talk, name string) (*thread.Thread, *notes, error) {
	j, o, n := *w.job, thread.Options{Key: t.Key, User: string(w.job.Owner()), Agent: name, Allow: w.allow, NoHint: true}, &notes{}
	at, err := spotOf(ctx, &o, &j, t)
	if err != nil {
		return nil, n, err
	}
	th, err := o.OpenAt(ctx, &j, at, thread.Face{Program: thread.Relaying, Stays: true, Tell: n.tell})
	return th, n, err
}

// spotOf returns the session of a talk, or a new one with its key.
func spotOf(ctx context.Context, o *thread.Options, j *job.Job, t gateway.Talk) (at thread.Selection, err error) {
	if t.Session != "" {
		at.Session, err = j.Store.Session(ctx, t.Session)
		return at, err
	}
	at, err = o.Keyed(ctx, j)
	at.Created.Surface, at.Created.Program = t.Surface, thread.Relaying
	return at, err
}

// sayAs is say for a message that has an ID of its own and may arrive twice. It
// attaches no files: the message comes from elsewhere.
func sayAs(ctx context.Context, t *thread.Thread, id skein.ClientID, text string) (agent.Outcome, error) {
	if task := t.Team.Definition.Task; task != "" && !t.Begun() {
		text = thread.Joined(task, text)
	}
	out, err := t.TurnAs(ctx, id, skein.UserSays(text))
	for errors.Is(err, skein.ErrExists) && !t.Begun() && t.At.Again != nil {
		if err := t.Again(ctx); err != nil {
			return out, err
		}
		out, err = t.TurnAs(ctx, id, skein.UserSays(text))
	}
	return out, t.Titled(ctx, out, err)
}

// Personality implements [gateway.Talker].
func (w *messenger) Personality(ctx context.Context, t gateway.Talk, name string) (string, error) {
	if name == "" {
		return w.agents(ctx, t)
	}
	if roster.IsPath(name) {
		return "Name an agent by its name here, not by its file.", nil
	}
	th, notes, err := w.open(ctx, t, name)
	switch {
	case thread.IsNotFound(err):
		return "There is no agent " + name + "; `/personality` lists the agents.", nil
	case err != nil:
		return "", thread.NoModel(err)
	}
	said := thread.AgentName(th.Agent()) + " answers now, by " + th.Agent().Model.About().String() + "; the conversation goes on."
	if !th.Begun() {
		err = beginEmpty(ctx, th)
	}
	return thread.Joined(said, notes.text()), errors.Join(err, th.End(ctx, string(agent.Done)))
}

// beginEmpty stores the creation of a session without messages, so that it keeps
// its agent.
func beginEmpty(ctx context.Context, t *thread.Thread) error {
	c, a := t.At.Created, t.Agent()
	about := a.Model.About()
	c.Agent, c.Profile, c.Provider, c.Model = a.Name, a.Profile, about.Provider, about.Model
	_, err := t.Store.Append(ctx, skein.Batch{Session: t.ID(), After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(t.Job.Now()), c),
	}})
	return err
}

// agents lists who can answer.
func (w *messenger) agents(ctx context.Context, t gateway.Talk) (string, error) {
	cwd, now := "", ""
	if t.Session != "" {
		s, err := w.job.Store.Session(ctx, t.Session)
		if err != nil {
			return "", err
		}
		cwd, now = s.Cwd, s.Agent
	}
	if cwd == "" {
		var err error
		if cwd, err = w.job.Getwd(); err != nil {
			return "", err
		}
	}
	found, _, err := thread.Roster(w.job, w.job.Store, cwd).Definitions()
	if err != nil {
		return "", err
	}
	lines := []string{"- `" + thread.Nameless + "`: the default assistant"}
	for _, d := range found {
		lines = append(lines, "- `"+d.Name+"`: "+d.Description)
	}
	if now == "" {
		now = "the default assistant"
	}
	return strings.Join(lines, "\n") + "\n\n" + now + " answers now.", nil
}

// Cost implements [gateway.Talker].
func (w *messenger) Cost(ctx context.Context, s skein.Session) (string, error) {
	costs, err := sessions.Costs(ctx, w.job, []skein.Session{s})
	return costs[s.ID].Costs(), err
}
