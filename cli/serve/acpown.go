package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/server/acp/own"
)

// editing is the name of the program in sessions that are answered in an editor.
const editing = "skein acp"

// An ownAgent is skein's own agent, which answers in an editor.
type ownAgent struct {
	model  string
	agent  string
	allow  []string
	always alwaysAllowed
}

func (o *ownAgent) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.model, "model", "", "without an AGENT: let this `MODEL` answer in new sessions, and in those whose own cannot")
	c.Flags().StringVar(&o.agent, "agent", "", "without an AGENT: let the agent with this `NAME` answer in new sessions")
	c.Flags().StringArrayVar(&o.allow, "allow", nil, "without an AGENT: allow this `TOOL` to run without asking, such as shell")
}

// given reports whether there is a flag for the own agent.
func (o *ownAgent) given() bool { return o.model != "" || o.agent != "" || len(o.allow) > 0 }

// serve answers the editor.
func (o *ownAgent) serve(ctx context.Context, j *job.Job) error {
	dir, err := j.Getwd()
	if err != nil {
		return err
	}
	if o.model != "" { // it also answers where a session's own model cannot
		j.Settings.Values = maps.Clone(j.Settings.Values)
		j.Settings.Values["model"] = config.SettingValue{Text: o.model, From: "--model"}
	}
	return own.Serve(ctx, own.Options{
		Store: j.Store, User: j.Owner(), Now: j.Now, Version: j.Version, Dir: dir,
		In: j.Stdin, Out: j.Stdout, Checkout: j.Here, Live: liveSessions(j).Of(j.Owner()),
		Open: func(ctx context.Context, at own.Opening) (own.Thread, error) {
			mine := *j
			return o.open(ctx, &mine, at)
		},
		Explain: func(err error) string {
			_, hint := fault.Outcome(err, "skein acp")
			if advised := (*fault.AdvisedError)(nil); errors.Is(err, fault.ErrUsage) && !errors.As(err, &advised) {
				hint = "" // nobody typed a command line
			}
			return thread.Joined(fault.Sentence(err), hint)
		},
	})
}

// open opens the thread of a session.
func (o *ownAgent) open(ctx context.Context, j *job.Job, at own.Opening) (_ own.Thread, err error) {
	t := &editorThread{job: j, at: at, always: &o.always}
	t.options = thread.Options{Cwd: at.Cwd, TakeOver: at.TakeOver, Editor: at.Editor, Servers: at.Servers, NoHint: true}
	to, err := o.selection(ctx, j, at)
	if err != nil {
		return nil, err
	}
	if to.IsNew() && !to.Forked {
		t.options.Model, t.options.Agent = o.model, o.agent
	}
	t.options.Allow = append(slices.Clone(o.allow), o.always.in(to.Project())...)
	if t.Thread, err = t.options.OpenAt(ctx, j, to, t.face()); err != nil {
		return nil, thread.NoModel(err)
	}
	if err := agent.Begin(ctx, t.Thread.Thread); err != nil {
		return nil, errors.Join(err, t.Thread.End(ctx, string(agent.Error)))
	}
	t.models = t.known(ctx)
	return t, nil
}

// selection returns which session to open, or how a new one begins.
func (o *ownAgent) selection(ctx context.Context, j *job.Job, at own.Opening) (to thread.Selection, err error) {
	if at.Session != "" {
		if to.Session, err = j.Store.Session(ctx, at.Session); err != nil {
			return to, err
		}
	}
	if at.Session != "" && at.ForkAt == 0 {
		return to, nil
	}
	if at.ForkAt > 0 {
		to.Forked, to.Created = true, sessions.ForkOf(to.Session, at.ForkAt, "", j.Version)
	} else {
		to.Created = skein.Created{User: j.Owner(), Version: j.Version}
	}
	to.Created.Surface, to.Created.Program = "acp", editing
	if at.Cwd != "" {
		found, project := j.Here(at.Cwd)
		to.Created.Cwd, to.Created.Project, to.Created.Checkout = at.Cwd, project, found.Known()
	}
	return to, nil
}

// alwaysAllowed are the tools that a person allowed for good since this process read its
// settings, by project. It is safe for concurrent use.
type alwaysAllowed struct {
	mu    sync.Mutex
	tools map[string][]string
}

func (w *alwaysAllowed) in(project string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.tools[project])
}

// add adds the tools that are allowed in a thread.
func (w *alwaysAllowed) add(a *thread.Allowed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tools == nil {
		w.tools = map[string][]string{}
	}
	for _, name := range a.Tools {
		if !slices.Contains(w.tools[a.Project], name) {
			w.tools[a.Project] = append(w.tools[a.Project], name)
		}
	}
}

// An editorThread is the thread of a session that is open in an editor. It implements
// own.Thread.
type editorThread struct {
	*thread.Thread
	job     *job.Job
	options thread.Options
	at      own.Opening
	always  *alwaysAllowed
	models  []string // that can be chosen
}

func (t *editorThread) face() thread.Face {
	return thread.Face{Program: editing, Observe: t.at.Observe, Ask: t.ask, Tell: func(format string, args ...any) {
		if format != "session %s" { // the editor knows its ID
			t.at.Tell(fmt.Sprintf(format, args...))
		}
	}}
}

// ask asks the person in front of the editor.
func (t *editorThread) ask(ctx context.Context, q job.Question) (job.Decision, error) {
	asked := own.Question{Text: q.Text, Always: q.Always}
	if q.Call != nil {
		asked.Call = q.Call.ID
	}
	a, err := t.at.Ask(ctx, asked)
	switch {
	case a.Always:
		return job.Always, err
	case a.Yes:
		return job.Yes, err
	}
	return job.No, err
}

// Say implements own.Thread.
func (t *editorThread) Say(ctx context.Context, m skein.Message, blobs []skein.Blob) (agent.Outcome, error) {
	out, err := thread.SayMessage(ctx, t.Thread, m, blobs)
	t.always.add(t.Allowed)
	return out, thread.NoModel(err)
}

// Window implements own.Thread.
func (t *editorThread) Window() int64 { return t.Agent().Window }

// Cost implements own.Thread.
func (t *editorThread) Cost(ctx context.Context) (float64, error) {
	s, err := t.Session(ctx)
	if err != nil {
		return 0, err
	}
	all, err := sessions.Costs(ctx, t.job, []skein.Session{s})
	if err != nil {
		return 0, err
	}
	if usd := all[s.ID].USD(); usd != nil {
		return *usd, nil
	}
	return 0, nil
}
