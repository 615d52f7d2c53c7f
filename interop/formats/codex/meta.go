package codex

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// nameParts finds the thread's ID in the name of a rollout file.
var nameParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([0-9a-fA-F-]{36})\.jsonl(?:\.zst)?$`)
})

// idOfName returns the thread's ID in a file's name, or "".
func idOfName(path string) string {
	m := nameParts().FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return ""
	}
	return strings.ToLower(m[1])
}

// spawned is a meta's source if it is not a word.
type spawned struct {
	Subagent jsontext.Value `json:"subagent"` // a word, or {"thread_spawn": …}
	Custom   string         `json:"custom"`
}

type spawn struct {
	Thread *struct {
		Parent    string `json:"parent_thread_id"`
		Nickname  string `json:"agent_nickname"`
		Role      string `json:"agent_role"`
		AgentType string `json:"agent_type"`
	} `json:"thread_spawn"`
	Other string `json:"other"`
}

// origin is what a meta says about its thread's origin.
type origin struct {
	surface string // cli, vscode, exec, mcp, subagent
	parent  string // thread that started this one
	role    string // what it was started as
}

func (m *meta) origin() origin {
	o := origin{surface: loose.Str(m.Source), parent: m.ParentThread, role: first(m.AgentRole, m.AgentType)}
	if len(m.Source) == 0 || m.Source[0] != '{' {
		return o
	}
	s, err := unmarshal[spawned](m.Source)
	if err != nil || len(s.Subagent) == 0 {
		o.surface = s.Custom
		return o
	}
	o.surface = "subagent"
	if word := loose.Str(s.Subagent); word != "" {
		o.role = first(o.role, word)
		return o
	}
	sp, err := unmarshal[spawn](s.Subagent)
	switch {
	case err != nil:
	case sp.Thread != nil:
		o.parent = first(o.parent, sp.Thread.Parent)
		o.role = first(o.role, first(sp.Thread.Role, sp.Thread.AgentType))
	default:
		o.role = first(o.role, sp.Other)
	}
	return o
}

// begin returns the beginning of the session that m is about. A fork finds its parent
// by the records that it repeats, not by forked_from_id: a parent that shares nothing
// with it would be useless.
func (m *meta) begin(id string, t skein.Time) interop.Begin {
	o := m.origin()
	b := interop.Begin{ID: skein.SessionID(id), Time: t}
	b.Created = skein.Created{
		Surface: o.surface, Project: m.Cwd, Cwd: m.Cwd,
		Agent: Name, Profile: o.role, Provider: m.ModelProvider,
		Origin:  &skein.Origin{Format: Name, ID: id, Version: m.Version},
		Program: m.Originator, Version: m.Version,
	}
	if o.parent != "" && o.parent != id {
		b.ParentID, b.Created.Parent = o.parent, &skein.Parent{Why: skein.Child}
	}
	return b
}

// meta reads a session_meta line. The first one is the thread's own; those that
// follow at once are of the threads whose lines come after them.
func (r *reader) meta(l line) (interop.Made, error) {
	m, err := unmarshal[meta](l.Payload)
	if err != nil {
		return r.odd(l, err), nil
	}
	if r.own == nil && (r.named == "" || strings.EqualFold(r.named, m.ID) || m.ID == "") {
		return r.ownMeta(l, &m), nil
	}
	if r.leading {
		r.place.root = first(m.ForkedFrom, first(m.ID, r.place.root))
		r.provider = m.ModelProvider
	}
	return interop.Made{}, nil
}

func (r *reader) ownMeta(l line, m *meta) interop.Made {
	r.own, r.bare = m, l.Bare
	r.id = first(m.ID, r.id)
	if t := loose.Stamp(m.Timestamp); t != 0 {
		r.start = t
	} else {
		r.start = l.Time
	}
	if r.leading {
		r.place.root, r.provider = first(m.ForkedFrom, r.id), m.ModelProvider
	}
	l.Time = r.start
	made := r.note(l)
	if r.items == 1 {
		made.Key = threadKey(r.id)
		return made
	}
	// The thread's meta came late, after lines that could be read.
	if m.Cwd != "" {
		made.Items = append(made.Items, r.item(skein.NewEvent(skein.KindChanged, r.start, skein.Changed{Cwd: &m.Cwd, Project: &m.Cwd})))
	}
	return made
}
