package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/server/web"
)

// serving is the name of the program in sessions that are answered in the
// dashboard.
const serving = "skein serve"

// A talker lets agents answer in the dashboard, as skein chat does on a terminal.
type talker struct {
	job   *job
	allow []string // tools that run without asking

	mu     sync.Mutex
	always map[string][]string // tools that a person allowed for good, by project
}

// Talk implements [web.Talker].
func (w *talker) Talk(ctx context.Context, t *web.Talk) (err error) {
	j := *w.job
	at, o, err := w.spot(ctx, &j, t)
	if err != nil {
		return err
	}
	face := &webFace{talk: t}
	th, err := o.openAt(ctx, &j, at, face.face())
	if err != nil {
		return err
	}
	face.thread = th
	out, err := th.say(ctx, t.Text)
	how := string(out.Stop)
	if err != nil {
		how = string(agent.Error)
	}
	w.remember(th.allowed)
	return errors.Join(noModel(err), th.close(ctx, how))
}

// chat returns the dashboard's conversations.
func (j *job) chat(allow []string) *web.Chat {
	return web.NewChat(&talker{job: j, allow: allow, always: map[string][]string{}})
}

// spot returns the session of the talk, and the options to open it with.
func (w *talker) spot(ctx context.Context, j *job, t *web.Talk) (at spot, o threadOptions, err error) {
	o = threadOptions{model: t.Model, agent: t.Agent, user: string(t.User), noHint: true}
	if t.Session == "" {
		at, err = o.fresh(ctx, j)
		at.created.Surface, at.created.Program = "web", serving
	} else {
		at.session, err = j.store.Session(ctx, t.Session)
	}
	o.allow = slices.Clone(w.allow)
	w.mu.Lock()
	defer w.mu.Unlock()
	o.allow = append(o.allow, w.always[at.project()]...)
	return at, o, err
}

// remember stores which tools a person allowed for good: this process read its
// settings only when it started.
func (w *talker) remember(a *allowed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range a.tools {
		if !slices.Contains(w.always[a.project], name) {
			w.always[a.project] = append(w.always[a.project], name)
		}
	}
}

// A webFace shows a turn in the dashboard.
type webFace struct {
	talk   *web.Talk
	thread *thread // nil while it is being opened
}

func (f *webFace) face() face {
	return face{program: serving, stays: true, observe: f.observe, ask: f.ask, tell: f.tell}
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
		said := slices.ContainsFunc(u.Events, func(e skein.Event) bool { return e.Kind == skein.KindSaid })
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
		f.talk.Note(u.Err.Error() + "; again in " + seconds(u.Wait))
	case agent.Compacting:
		f.talk.Doing("summing up what is older")
	case agent.Compacted:
		if u.Err != nil {
			f.talk.Note("it was not summed up: " + u.Err.Error())
		}
		f.talk.Doing("")
	case agent.Answered, agent.Ran:
		if u.Child == "" {
			f.talk.Doing("")
		}
	}
}

// ask asks whoever is looking at the page a question.
func (f *webFace) ask(ctx context.Context, q question) (reply, error) {
	answer, err := f.talk.Ask(ctx, web.Question{Text: q.text, Always: q.always})
	switch answer {
	case web.Yes:
		return yes, err
	case web.Always:
		return always, err
	}
	return no, err
}
