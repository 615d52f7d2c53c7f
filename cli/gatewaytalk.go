package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/server/gateway"
)

// relaying is the name of the program in sessions that are answered by the gateway.
const relaying = "skein gateway"

// A messenger lets agents answer messages from elsewhere. It implements
// [gateway.Talker].
type messenger struct {
	job   *job
	allow []string // tools that run without asking
}

// Talk implements [gateway.Talker].
func (w *messenger) Talk(ctx context.Context, t gateway.Talk) (a gateway.Answer, err error) {
	th, notes, err := w.open(ctx, t, "")
	if err != nil {
		return a, noModel(err)
	}
	out, err := th.sayAs(ctx, t.ID, t.Text)
	how := string(out.Stop)
	if err != nil {
		how = string(agent.Error)
	}
	a.Session, a.Text = th.ID(), out.Text
	switch out.Stop {
	case agent.MaxSteps:
		notes.tell("it came to its limit of steps; say go on, and it goes on")
	case agent.Timeout:
		notes.tell("it came to its limit of time; say go on, and it goes on")
	}
	err = errors.Join(noModel(err), th.close(ctx, how))
	a.Text = joined(a.Text, notes.text())
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
func (w *messenger) open(ctx context.Context, t gateway.Talk, name string) (*thread, *notes, error) {
	j, o, n := *w.job, threadOptions{key: t.Key, user: string(w.job.owner()), agent: name, allow: w.allow, noHint: true}, &notes{}
	at, err := o.spotOf(ctx, &j, t)
	if err != nil {
		return nil, n, err
	}
	th, err := o.openAt(ctx, &j, at, face{program: relaying, stays: true, tell: n.tell})
	return th, n, err
}

// spotOf returns the session of a talk, or a new one with its key.
func (o *threadOptions) spotOf(ctx context.Context, j *job, t gateway.Talk) (at spot, err error) {
	if t.Session != "" {
		at.session, err = j.store.Session(ctx, t.Session)
		return at, err
	}
	at, err = o.keyed(ctx, j)
	at.created.Surface, at.created.Program = t.Surface, relaying
	return at, err
}

// sayAs is say for a message that has an ID of its own and may arrive twice. It
// attaches no files: the message comes from elsewhere.
func (t *thread) sayAs(ctx context.Context, id skein.ClientID, text string) (agent.Outcome, error) {
	if task := t.team.Definition.Task; task != "" && !t.Begun() {
		text = joined(task, text)
	}
	out, err := t.TurnAs(ctx, id, skein.UserSays(text))
	for errors.Is(err, skein.ErrExists) && !t.Begun() && t.at.again != nil {
		if err := t.again(ctx); err != nil {
			return out, err
		}
		out, err = t.TurnAs(ctx, id, skein.UserSays(text))
	}
	return out, t.titled(ctx, out, err)
}

// Personality implements [gateway.Talker].
func (w *messenger) Personality(ctx context.Context, t gateway.Talk, name string) (string, error) {
	if name == "" {
		return w.agents(ctx, t)
	}
	if roster.IsPath(name) {
		return "An agent is named by its name here, not by its file.", nil
	}
	th, notes, err := w.open(ctx, t, name)
	switch {
	case isNotFound(err):
		return "There is no agent " + name + "; `/personality` says which there are.", nil
	case err != nil:
		return "", noModel(err)
	}
	said := agentName(th.Agent()) + " answers now, by " + th.Agent().Model.About().String() + "; the conversation goes on."
	if !th.Begun() {
		err = th.beginEmpty(ctx)
	}
	return joined(said, notes.text()), errors.Join(err, th.close(ctx, string(agent.Done)))
}

// beginEmpty stores the creation of a session without messages, so that it keeps
// its agent.
func (t *thread) beginEmpty(ctx context.Context) error {
	c, a := t.at.created, t.Agent()
	about := a.Model.About()
	c.Agent, c.Profile, c.Provider, c.Model = a.Name, a.Profile, about.Provider, about.Model
	_, err := t.store.Append(ctx, skein.Batch{Session: t.ID(), After: skein.Fresh, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, skein.At(t.job.Now()), c),
	}})
	return err
}

// agents lists who can answer.
func (w *messenger) agents(ctx context.Context, t gateway.Talk) (string, error) {
	cwd, now := "", ""
	if t.Session != "" {
		s, err := w.job.store.Session(ctx, t.Session)
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
	found, _, err := w.job.roster(w.job.store, cwd).Definitions()
	if err != nil {
		return "", err
	}
	lines := []string{"- `" + nameless + "`: the nameless assistant"}
	for _, d := range found {
		lines = append(lines, "- `"+d.Name+"`: "+d.Description)
	}
	if now == "" {
		now = "the nameless assistant"
	}
	return strings.Join(lines, "\n") + "\n\n" + now + " answers now.", nil
}

// Cost implements [gateway.Talker].
func (w *messenger) Cost(ctx context.Context, s skein.Session) (string, error) {
	costs, err := w.job.costs(ctx, []skein.Session{s})
	return costs[s.ID].Costs(), err
}
