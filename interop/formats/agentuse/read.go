package agentuse

import (
	"cmp"
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the files of one session.
type reader struct {
	id        string // from the folder's name
	above     string // session whose folder contains this one; "" for none
	model     string
	provider  string
	begun     bool
	round     int         // of the model's answers, separated by the tools between them
	ran       bool        // a tool ran since the model spoke
	request   string      // of the message that is read: its ID
	total     skein.Usage // of this message, as message.json has it
	steps     skein.Usage // of the steps of this message that were read
	artifacts map[string]skein.File
	blobs     map[string]skein.Blob
	kept      int             // bytes of these
	failed    skein.ErrorInfo // with which the session ended
}

// maxKept is how many bytes of artifacts are held until a part refers to them.
const maxKept = 64 << 20

func open(f interop.File) interop.Reader {
	dir := filepath.ToSlash(f.Path)
	r := &reader{id: idOf(dir), artifacts: map[string]skein.File{}, blobs: map[string]skein.Blob{}}
	if up := path.Dir(dir); path.Base(up) == "subagent" {
		r.above = idOf(path.Dir(up))
	}
	return r
}

// idOf returns the ID that a session's folder is named after.
func idOf(dir string) string {
	id, _, _ := strings.Cut(path.Base(dir), "-")
	return id
}

// Read implements [interop.Reader]; the error says that a file cannot be read, or is
// not a JSON object.
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	in, err := folder.Parse(l.Body)
	switch {
	case err != nil || in.File == "":
		return m, err
	case in.Damage != "":
		return m, errors.New(in.Damage)
	}
	name, data := in.File, in.Data()
	switch dir := path.Dir(name); {
	case name == "session.json":
		return r.session(data)
	case name == "tools.json" || name == "context.json":
		return m, nil
	case path.Base(name) == "message.json" && path.Dir(dir) == ".":
		return r.message(data, dir)
	case path.Base(dir) == "part" && path.Ext(name) == ".json":
		return r.part(data, path.Base(path.Dir(dir)), strings.TrimSuffix(path.Base(name), ".json"), l.Run)
	case path.Base(dir) == "artifact":
		r.artifact(path.Base(name), data)
	}
	return m, nil
}

// key returns the key of a file's record.
func (r *reader) key(name string) skein.ClientID {
	return skein.ClientID("au:" + r.id + ":" + name[:min(len(name), 40)])
}

// make returns what a file makes, and the session if it is its first.
func (r *reader) make(key skein.ClientID, evs ...skein.Event) (m interop.Made) {
	if len(evs) == 0 {
		return m
	}
	m.Key = key
	if !r.begun { // session.json is missing or damaged
		m.Begin = []interop.Begin{r.begin(&sessionFile{})}
	}
	for _, e := range evs {
		m.Items = append(m.Items, interop.Item{Event: e})
	}
	return m
}

// config is a session's Created.Config: the agent and its settings, unchanged.
type config struct {
	Agent  json.RawMessage `json:"agent,omitempty"`
	Config json.RawMessage `json:"config,omitempty"`
}

func (r *reader) begin(s *sessionFile) interop.Begin {
	r.begun = true
	agent, err := object[agentFile](s.Agent)
	if err != nil {
		agent = agentFile{} // of another shape; Config has it
	}
	b := interop.Begin{ID: skein.SessionID(r.id), Time: timeOf(s.Time.Created), Created: skein.Created{
		Surface: cmp.Or(utf8(s.Trigger), "cli"), Agent: cmp.Or(utf8(agent.Name), utf8(agent.ID), Name),
		Provider: r.provider, Model: r.model, Program: Name, Version: utf8(s.Version),
		Project: utf8(s.Project.Root), Cwd: utf8(s.Project.Cwd), Origin: &skein.Origin{ID: r.id, Version: utf8(s.Version)},
	}}
	if c := (config{raw(s.Agent), raw(s.Config)}); c.Agent != nil || c.Config != nil {
		b.Created.Config = skein.MustJSON(c)
	}
	if parent := cmp.Or(s.Parent, r.above); parent != "" && parent != r.id {
		b.ParentID, b.Created.Parent = parent, &skein.Parent{Why: skein.Child}
	}
	return b
}

// session reads session.json: the session, its status, and the error that it ended
// with.
func (r *reader) session(data []byte) (m interop.Made, err error) {
	s, _, damage, err := read[sessionFile](data)
	if err != nil {
		return m, err
	}
	r.provider, r.model = models(s.Model, "")
	begin := r.begin(&s)
	m.Damage = damage
	m.Begin = []interop.Begin{begin}
	at := timeOf(s.Time.Updated)
	status := utf8(s.Status)
	c := skein.Changed{}
	if status != "" {
		c.Status = &status
	}
	evs := []skein.Event{skein.NewEvent(skein.KindChanged, at, c)}
	if s.Error != nil {
		r.failed = *s.Error.info()
		evs = append(evs, skein.NewEvent(skein.KindStep, at, skein.Step{Phase: "finish", Error: s.Error.info()}))
	}
	made := r.make(r.key("session"), evs...)
	m.Key, m.Items = made.Key, made.Items
	return m, nil
}

// models splits PROVIDER:MODEL.
func models(full, provider string) (p, model string) {
	p, model, ok := strings.Cut(full, ":")
	if !ok {
		return utf8(provider), utf8(full)
	}
	return utf8(p), utf8(model)
}

func (e *errorFile) info() *skein.ErrorInfo {
	text := e.Message
	if e.Detail != "" && e.Detail != text {
		text += ": " + e.Detail
	}
	return &skein.ErrorInfo{Kind: utf8(cmp.Or(e.Code, e.Type)), Message: utf8(text), Status: int(tokensOf(e.Status))}
}

// message reads message.json: the system prompt, the prompt, and the answer's usage.
func (r *reader) message(data []byte, dir string) (m interop.Made, err error) {
	f, _, damage, err := read[messageFile](data)
	if err != nil {
		return m, err
	}
	r.round, r.ran = 0, false
	at := timeOf(f.Time.Created)
	var evs []skein.Event
	if len(f.Assistant.System) > 0 {
		sys := skein.Message{Role: skein.RoleSystem, Synthetic: true}
		for _, text := range f.Assistant.System {
			sys.Parts = append(sys.Parts, skein.TextPart(string(text)))
		}
		evs = append(evs, skein.Say(at, sys))
	}
	asked := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{}}
	for i, text := range []skein.Text{f.User.Prompt.Task, f.User.Prompt.User} {
		if text != "" {
			p := skein.TextPart(string(text))
			p.Synthetic = i == 0 && f.User.Prompt.User != "" // the task is the agent's own file
			asked.Parts = append(asked.Parts, p)
		}
	}
	evs = append(evs, skein.Say(at, asked))
	u, e := f.Assistant.Tokens.usage(), f.Assistant.Error
	u.Reported = loose.Billionths(f.Assistant.Cost)
	r.request, r.total, r.steps = cmp.Or(utf8(f.ID), dir), u, skein.Usage{}
	if u != (skein.Usage{}) || e != nil {
		s := skein.Step{Phase: "finish", Request: r.request, Usage: &u, Several: true}
		s.Provider, s.Model = models(f.Assistant.Model, f.Assistant.Provider)
		if e != nil {
			s.Error = e.info()
		}
		evs = append(evs, skein.NewEvent(skein.KindStep, timeOf(f.Time.Completed), s))
	}
	m = r.make(r.key(dir), evs...)
	m.Damage = damage
	return m, nil
}

// usage subtracts the cached tokens from the input, in which the AI SDK includes
// them.
func (t *tokens) usage() skein.Usage {
	u := skein.Usage{
		Input: tokensOf(t.Input), Output: tokensOf(t.Output), Reasoning: tokensOf(t.Reasoning),
		CacheRead: tokensOf(t.Cache.Read), CacheWrite: tokensOf(t.Cache.Write),
	}
	if cached := u.CacheRead + u.CacheWrite; u.Input >= cached {
		u.Input -= cached
	}
	return u
}

// artifact keeps the output of a tool until a part refers to it.
func (r *reader) artifact(name string, data []byte) {
	if r.kept += len(data); r.kept > maxKept {
		return
	}
	b := skein.NewBlob(data)
	r.blobs[name] = b
	r.artifacts[name] = skein.File{Name: utf8(name), Media: "text/plain", Blob: b.Hash, Size: int64(len(data))}
}
