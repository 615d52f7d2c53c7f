package claudecode

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// begin makes sure that t has begun, and knows m's folder. As long as there are only
// lines about the file, the session waits for one that has the folder.
func (r *reader) begin(m *making, t *thread) {
	cwd := string(m.Cwd)
	if t.begun {
		if cwd != "" && cwd != t.cwd && t == m.thread {
			r.moved(m, t, cwd)
		}
		return
	}
	if t != r.main {
		r.begin(m, r.main)
		r.main.begun = true
	}
	t.begun, t.cwd = t != r.main || m.steps(), cwd
	b := interop.Begin{Name: t.name, ID: t.id, Time: m.time, Created: skein.Created{
		Surface: "cli", Project: cwd, Cwd: cwd, Agent: Name, Provider: "anthropic", Program: Name, Version: clip(string(m.Version)),
		Origin: &skein.Origin{ID: string(t.id), Version: clip(string(m.Version))},
	}}
	if m.Entrypoint != "" {
		b.Created.Surface = clip(string(m.Entrypoint))
	}
	if m.Branch != "" {
		b.Created.Config = skein.MustJSON(map[string]string{"git_branch": string(m.Branch)})
	}
	switch {
	case r.agent && t == r.main:
		r.child(m, &b)
	case t != r.main:
		r.side(m, t, &b)
	}
	m.out.Begin = append(m.out.Begin, b)
}

// steps reports whether m is a step of the conversation.
func (m *making) steps() bool {
	return m.Type == "user" || m.Type == "assistant" || m.Attachment.Type == "queued_command"
}

func (r *reader) moved(m *making, t *thread, cwd string) {
	c := skein.Changed{Cwd: &cwd}
	if t.cwd == "" {
		c.Project = &cwd
	}
	t.cwd = cwd
	t.count++
	m.out.Items = append(m.out.Items, interop.Item{Session: t.name, Event: skein.NewEvent(skein.KindChanged, m.time, c)})
}

// child sets the parent of the session of a sub-agent's file.
func (r *reader) child(m *making, b *interop.Begin) {
	b.ParentID = r.folder
	if id := string(m.Session); b.ParentID == "" && id != "" && id != r.stem {
		b.ParentID = id
	}
	if r.meta.Parent != "" {
		b.ParentID = "agent-" + string(r.meta.Parent)
	}
	if b.ParentID != "" {
		b.Created.Parent = &skein.Parent{Why: skein.Child, Call: string(r.meta.ToolUse)}
	}
	if r.meta.Type != "" {
		b.Created.Agent = clip(string(r.meta.Type))
	}
	b.Created.Title = string(r.meta.Description)
}

// side sets the call of the main session that started an inline sub-agent.
func (r *reader) side(m *making, t *thread, b *interop.Begin) {
	id := r.agents[t.name]
	if id == "" {
		id = string(m.SourceToolUse)
	}
	if id == "" {
		id = string(m.ParentToolUse)
	}
	if id == "" && m.Type == "user" {
		id = r.prompts[r.promptHash(promptText(m.Message.Content))]
	}
	b.Created.Parent = &skein.Parent{Why: skein.Child, Call: id}
	b.Of, b.At = "", r.calls[id].ordinal
	if b.At == 0 {
		b.At = r.main.count
	}
	if id != "" {
		r.agents[t.name], r.children[id] = id, t.id
	}
}
