package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/server/web"
)

// serving is the name of the program in sessions that are answered in the
// dashboard.
const serving = "skein serve"

// A talker lets agents answer in the dashboard, as skein chat does on a terminal.
type talker struct {
	job   *job.Job
	allow []string // tools that run without asking

	always alwaysAllowed
}

// Talk implements [web.Talker].
func (w *talker) Talk(ctx context.Context, t *web.RunningTurn) (err error) {
	defer func() { err = modelToChoose(err) }()
	j := *w.job
	at, o, err := w.spot(ctx, &j, t)
	if err != nil {
		return err
	}
	with, err := attachedIn(ctx, j.Store, t)
	if err != nil {
		return err
	}
	face := &webFace{talk: t, again: t.Again}
	th, err := o.OpenAt(ctx, &j, at, face.face())
	if err != nil {
		return err
	}
	face.thread = th
	var out agent.Outcome
	if t.Again {
		out, err = th.AskAgain(ctx)
	} else {
		out, err = th.SayWith(ctx, t.Text, with)
	}
	how := string(out.Stop)
	if err != nil {
		how = string(agent.Error)
	}
	w.always.add(th.Allowed)
	return errors.Join(err, th.End(ctx, how))
}

// modelToChoose adds to err what to do on the page if no model is chosen.
func modelToChoose(err error) error {
	if m := (*roster.ModelError)(nil); errors.As(err, &m) && m.Name == "" {
		return fault.Usage(`No model is chosen. Type one below, such as anthropic:MODEL, or echo to try this out. For good: model = "…" in config.toml.`)
	}
	return err
}

// attachedIn returns what a turn's prompt has beside its text: the files that came with it,
// and those of the prompt in whose place it is.
func attachedIn(ctx context.Context, store skein.Store, t *web.RunningTurn) (with thread.Attached, err error) {
	if t.Edits > 0 {
		if with, err = thread.AttachedTo(ctx, store, t.From, t.Edits); err != nil {
			return with, err
		}
	}
	for _, f := range t.Files {
		if err := with.Attach(f.Name, f.Data); err != nil {
			return with, err
		}
	}
	return with, nil
}

// chatOf returns the dashboard's conversations.
func chatOf(j *job.Job, allow []string) *web.Turns {
	return web.NewChat(&talker{job: j, allow: allow})
}

// Choices implements [web.Talker]. The models are those that answered before.
func (w *talker) Choices(ctx context.Context, store skein.Store, in *skein.Session) (c web.TurnChoices) {
	cwd, err := w.job.Getwd()
	if err != nil && in.Cwd == "" {
		return c
	}
	who := thread.Roster(w.job, nil, cmp.Or(in.Cwd, cwd))
	agents, _, _ := who.Definitions() //nolint:errcheck // without them, an agent can still be typed
	for _, d := range agents {
		c.Agents = append(c.Agents, web.AgentChoice{Name: d.Name, About: d.Description})
	}
	c.Model = cmp.Or(thread.OwnModel(in), w.job.Settings.Text("model"))
	c.Models = modelChoices(ctx, who, store, agents, c.Model, "echo")
	return c
}

// modelChoices returns the models to choose from, sorted: the named ones, those of
// agents, and those that answered before, if their provider is known.
func modelChoices(ctx context.Context, who *roster.Roster, store skein.Store, agents []roster.Definition, named ...string) []string {
	for _, d := range agents {
		named = append(named, d.Model)
	}
	for s, err := range store.Sessions(ctx, skein.Filter{Limit: sessions.Most}) {
		if err != nil {
			break
		}
		named = append(named, thread.OwnModel(&s))
	}
	named = slices.DeleteFunc(named, func(name string) bool {
		provider, _, _ := strings.Cut(name, ":")
		_, known := who.Provider(provider)
		return !known && name != "echo"
	})
	slices.Sort(named)
	return slices.Compact(named)
}

// spot returns the session of the talk, and the options to open it with.
func (w *talker) spot(ctx context.Context, j *job.Job, t *web.RunningTurn) (at thread.Selection, o thread.Options, err error) {
	o = thread.Options{Model: t.Model, Agent: t.Agent, Effort: t.Effort, User: string(t.User), NoHint: true}
	switch {
	case t.From != "":
		at.Session, err = j.Store.Session(ctx, t.From)
		at.Forked, at.Created = true, sessions.ForkOf(at.Session, t.At, "", j.Version)
		at.Created.Surface, at.Created.Program = "web", serving
	case t.Session == "":
		at, err = o.Fresh(ctx, j)
		at.Created.Surface, at.Created.Program = "web", serving
	default:
		at.Session, err = j.Store.Session(ctx, t.Session)
	}
	o.Allow = append(slices.Clone(w.allow), w.always.in(at.Project())...)
	return at, o, err
}

// A webFace shows a turn in the dashboard.
type webFace struct {
	talk   *web.RunningTurn
	again  bool           // no prompt is stored in this turn
	thread *thread.Thread // nil while it is being opened
}

func (f *webFace) face() thread.Face {
	return thread.Face{Program: serving, Stays: true, Observe: f.observe, Ask: f.ask, Tell: f.tell}
}

// tell passes on a note that is not part of an answer. It drops the ID of a new
// session, which is in the page's address.
func (f *webFace) tell(format string, args ...any) {
	if format != "session %s" {
		f.talk.Note(fmt.Sprintf(format, args...))
	}
}

// observe passes on what happens.
func (f *webFace) observe(u agent.Update) {
	switch u.Kind {
	case agent.Stored:
		said := f.again || slices.ContainsFunc(u.Events, func(e skein.Event) bool { return e.Kind == skein.KindSaid })
		if u.Child == "" && f.thread != nil && said {
			f.talk.Begun(f.thread.ID())
		}
	case agent.Text:
		if u.Child == "" {
			f.talk.Write(u.Text)
		}
	case agent.Reasoning:
	case agent.Running:
		f.talk.Doing(u.Call.Name + " " + u.Text)
	case agent.Waiting:
		f.talk.Note(u.Err.Error() + "; trying again in " + terminal.Seconds(u.Wait))
	case agent.Compacting:
		f.talk.Doing("summarizing older turns")
	case agent.Compacted:
		if u.Err != nil {
			f.talk.Note("older messages were not summarized: " + u.Err.Error())
		}
		f.talk.Doing("")
	case agent.Answered, agent.Ran:
		if u.Child == "" {
			f.talk.Doing("")
		}
	}
}

// ask asks whoever is looking at the page a question.
func (f *webFace) ask(ctx context.Context, q job.Question) (job.Decision, error) {
	answer, err := f.talk.Ask(ctx, web.Question{Text: q.Text, Always: q.Always, Call: q.Call})
	switch answer {
	case web.Yes:
		return job.Yes, err
	case web.Always:
		return job.Always, err
	}
	return job.No, err
}
