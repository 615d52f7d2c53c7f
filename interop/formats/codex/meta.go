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
		Surface: o.surface, Project: m.Cwd, Cwd: m.Cwd, Checkout: m.checkout().Known(),
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
// follow at once are of the threads whose lines come after them; the thread's own may
// be repeated later.
func (th *thread) meta(l line) (interop.Made, error) {
	m, err := unmarshal[meta](l.Payload)
	if err != nil {
		return th.odd(l, err), nil
	}
	if th.own == nil && (th.named == "" || strings.EqualFold(th.named, m.ID) || m.ID == "") {
		return th.ownMeta(l, &m), nil
	}
	if th.own != nil && !th.leading && strings.EqualFold(m.ID, th.id) {
		return th.again(l, &m), nil
	}
	if th.leading {
		th.place.root = first(m.ForkedFrom, first(m.ID, th.place.root))
		th.provider = m.ModelProvider
	}
	return interop.Made{}, nil
}

func (th *thread) ownMeta(l line, m *meta) interop.Made {
	th.own, th.bare = m, l.Bare
	th.id = first(m.ID, th.id)
	if t := loose.Stamp(m.Timestamp); t != 0 {
		th.start = t
	} else {
		th.start = l.Time
	}
	if th.leading {
		th.place.root, th.provider = first(m.ForkedFrom, th.id), m.ModelProvider
	}
	l.Time = th.start
	made := th.note(l)
	if th.items == 1 {
		made.Key = threadKey(th.id)
		return made
	}
	// The thread's meta came late, after lines that could be read.
	set := skein.Changed{Checkout: m.checkout().Known()}
	if m.Cwd != "" {
		set.Cwd, set.Project = &m.Cwd, &m.Cwd
	}
	if set.Cwd != nil || set.Checkout != nil {
		made.Items = append(made.Items, th.item(skein.NewEvent(skein.KindChanged, th.start, set)))
	}
	return made
}

// again reads the thread's meta where it is repeated, as Codex does when something in
// it has changed.
func (th *thread) again(l line, m *meta) interop.Made {
	is := m.checkout()
	if is == th.own.checkout() {
		return interop.Made{}
	}
	th.own.Git = m.Git
	made := th.make(l, skein.NewEvent(skein.KindChanged, l.Time, skein.Changed{Checkout: &is}))
	made.Floating = true
	return made
}
