package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/agent/roster"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/render"
)

// allowed is the tools that need not ask in a thread.
type allowed struct {
	project string
	tools   []string
}

// allowed returns the tools that need not ask in a project: by the flags, by the
// settings, by what the person said there before.
func (j *job) allowed(project string, flags []string) *allowed {
	var names []string
	for _, given := range flags {
		names = append(names, strings.FieldsFunc(given, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	names = append(names, j.settings.words("allow")...)
	names = append(names, j.settings.projects[project].Allow...)
	return &allowed{project, roster.Flat(names)}
}

// has reports whether name need not ask; * allows all tools.
func (a *allowed) has(name string) bool {
	return slices.Contains(a.tools, name) || slices.Contains(a.tools, "*")
}

// runs reports whether a tool need not ask. A tool that asks each time must be
// allowed by name.
func (a *allowed) runs(of tool.Tool) bool {
	return a.has(of.Spec.Name) && (!of.Each || slices.Contains(a.tools, of.Spec.Name))
}

// approve decides, or lets the person decide, whether a tool that asks first may
// run.
func (t *thread) approve(ctx context.Context, of tool.Tool, _ tool.Call, text string) (agent.Approval, error) {
	name := of.Spec.Name
	if t.allowed.runs(of) {
		return agent.Approval{Yes: true}, nil
	}
	if t.face.ask == nil {
		t.face.tell("not allowed, as nobody can be asked: %s; --allow %s lets it run", render.Line(text), name)
		return agent.Approval{Reason: "Nobody is there to be asked, and " + name + " was not allowed beforehand."}, nil
	}
	q := question{text: text}
	if !of.Each {
		q.always = "in this project"
	}
	r, err := t.face.ask(ctx, q)
	if err != nil {
		return agent.Approval{}, err
	}
	if r == always {
		t.allowForGood(name)
	}
	return agent.Approval{Yes: r != no}, nil
}

// allowForGood allows the tool name in this project from now on.
func (t *thread) allowForGood(name string) {
	t.allowed.tools = append(t.allowed.tools, name)
	if err := t.job.allowInProject(t.allowed.project, name); err != nil {
		t.face.tell("%s is allowed until the end of this program only: %v", name, err)
	}
}
