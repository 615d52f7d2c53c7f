package qwen

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads one file.
type reader struct {
	id     skein.SessionID
	parent string // ID of the parent session
	agent  bool   // the file is a sub-agent's
	meta   loose.Object
	begun  bool
	start  skein.Time // of the first record that has one
	cwd    string
	branch string
	titles map[skein.By]string
	count  int // items so far
	steps  int // of these, the messages and rewinds
	tree   tree
	names  map[string]string // call ID to tool
	said   []spot
}

// maxNames is the number of calls whose tool is remembered: more than are ever open
// at a time.
const maxNames = 10000

// open returns a reader for a file.
func open(f interop.File) interop.Reader {
	name := filepath.ToSlash(f.Path)
	stem := strings.TrimSuffix(path.Base(name), ".jsonl")
	r := &reader{id: skein.SessionID(stem), titles: map[skein.By]string{}, tree: tree{nodes: map[string]node{}}, names: map[string]string{}}
	above := path.Dir(name)
	r.agent = strings.HasPrefix(stem, "agent-") && path.Base(path.Dir(above)) == "subagents"
	if !r.agent {
		return r
	}
	session := path.Base(above)
	r.id, r.parent = agentID(stem, session), session
	if f.Beside != nil {
		if b, ok := f.Beside(stem + ".meta.json"); ok {
			r.meta, _ = loose.Parse(b) // what cannot be read is ignored
		}
	}
	if p := r.meta.Str("parentAgentId"); p != "" {
		r.parent = string(agentID("agent-"+p, session))
	}
	return r
}

// agentID returns the ID of a sub-agent's session: the agent's own name is unique
// only within its parent session.
func agentID(stem, session string) skein.SessionID {
	return skein.SessionID(stem + "-" + session)
}

// A making is what becomes of one record.
type making struct {
	loose.Object
	kind, sub string
	run       bool // see interop.Line
	time      skein.Time
	blobs     []skein.Blob // of the next item
	out       interop.Made
}

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	o, err := loose.Parse(l.Body)
	if err != nil {
		return interop.Made{}, err
	}
	m := &making{Object: o, run: l.Run, kind: o.Str("type"), sub: o.Str("subtype"), time: loose.Stamp(o.Get("timestamp"))}
	if m.sub == "parent_session" && !r.begun {
		if id := o.Obj("systemPayload").Str("parentSessionId"); id != "" && !r.agent {
			r.parent = id
		}
	}
	r.enter(m)
	if r.begun && !r.agent {
		r.moved(m)
	}
	r.record(m)
	m.out.Floating = !tells(m.out.Items)
	r.begin(m)
	r.settle(o.Str("uuid"))
	if uuid := o.Str("uuid"); uuid != "" {
		m.out.Key = skein.ClientID("qw:" + uuid)
	}
	return m.out, nil
}

// tells reports whether any of the items is a step of the conversation.
func tells(items []interop.Item) bool {
	for _, it := range items {
		if it.Event.Kind == skein.KindSaid || it.Event.Kind == skein.KindCompacted {
			return true
		}
	}
	return false
}

// begin begins the session, again with each record up to the first message: each of
// them can add to its metadata.
func (r *reader) begin(m *making) {
	if r.begun {
		return
	}
	cwd := m.Str("cwd")
	r.begun, r.cwd, r.branch = !m.out.Floating, cwd, m.branch()
	if r.start == 0 {
		r.start = m.time
	}
	c := skein.Created{
		Surface: "cli", Project: cwd, Cwd: cwd, Agent: agent, Program: agent, Version: clip(m.Str("version")), Model: r.meta.Str("model"),
		Checkout: skein.Checkout{Branch: r.branch}.Known(), Origin: &skein.Origin{ID: string(r.id), Version: clip(m.Str("version"))}, Title: r.meta.Str("description"),
	}
	if kind := r.meta.Str("agentType"); kind != "" {
		c.Agent = clip(kind)
	}
	b := interop.Begin{ID: r.id, Time: r.start, ParentID: r.parent}
	if r.parent != "" {
		c.Parent = &skein.Parent{Why: skein.Child, Call: r.meta.Str("toolUseId")}
	}
	b.Created = c
	m.out.Begin = []interop.Begin{b}
}

// branch returns the branch that a record names; "" for none.
func (m *making) branch() string { return interop.Recorded("", m.Str("gitBranch"), "").Branch }

// moved adds an event if the folder or the branch is another one.
func (r *reader) moved(m *making) {
	var c skein.Changed
	if cwd := m.Str("cwd"); cwd != "" && cwd != r.cwd {
		r.cwd, c.Cwd = cwd, &cwd
	}
	if b := m.branch(); b != r.branch && (m.Str("gitBranch") != "" || c.Cwd != nil) {
		r.branch, c.Checkout = b, &skein.Checkout{Branch: b}
	}
	if c.Cwd != nil || c.Checkout != nil {
		r.add(m, skein.NewEvent(skein.KindChanged, m.time, c))
	}
}

// add adds an event to the session.
func (r *reader) add(m *making, e skein.Event) *interop.Item {
	r.count++
	switch e.Kind {
	case skein.KindSaid, skein.KindCompacted, skein.KindRewound:
		r.steps++
	}
	m.out.Items = append(m.out.Items, interop.Item{Event: e, Blobs: m.blobs})
	m.blobs = nil
	return &m.out.Items[len(m.out.Items)-1]
}

// note keeps the record unchanged, except for what a copy changes.
func (r *reader) note(m *making) {
	name := Name + ":" + clip(m.kind)
	if m.sub != "" {
		name += "/" + clip(m.sub)
	}
	n := skein.Noted{Name: name, Data: []byte(m.Without("uuid", "parentUuid", "sessionId", "forkedFrom"))}
	r.add(m, skein.NewEvent(skein.KindNoted, m.time, n))
}

// clip shortens a name that comes from a file.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 64)], "") }

var _ interop.Reader = (*reader)(nil)
