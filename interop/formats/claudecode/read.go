package claudecode

import (
	"errors"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A reader reads one file.
type reader struct {
	stem     string // file name without .jsonl: the session's ID
	agent    bool   // the file is a sub-agent's
	folder   string // ID of the session whose folder it is in; "" for none
	meta     agentMeta
	main     *thread
	sides    map[string]*thread // inline sub-agents, by agent ID or by the UUID of their first line
	nodes    nodes
	calls    map[string]call
	prompts  map[uint64]string          // prompts of calls that start sub-agents, to the call's ID
	agents   map[string]string          // sub-agents to the call that started them
	children map[string]skein.SessionID // and calls to the inline ones that they started
	equals   map[uuid]int               // number of lines without a UUID, by hash
	leaves   map[string]interop.Item
	boundary compactMeta
	seed     maphash.Seed
}

// call is a tool call that a reader has met.
type call struct {
	name    string
	ordinal int
}

// thread is a session of the file: the file's own, or an inline sub-agent's.
type thread struct {
	name     string // interop's; "" for the file's own
	id       skein.SessionID
	begun    bool
	cwd      string
	titles   map[skein.By]string
	count    int // items so far
	segments []segment
	current  int
}

func open(f interop.File) interop.Reader {
	r := &reader{
		stem:  strings.TrimSuffix(filepath.Base(f.Path), ".jsonl"),
		sides: map[string]*thread{}, nodes: nodes{}, calls: map[string]call{}, prompts: map[uint64]string{},
		agents: map[string]string{}, children: map[string]skein.SessionID{}, equals: map[uuid]int{}, leaves: map[string]interop.Item{}, seed: maphash.MakeSeed(),
	}
	r.main = newThread("", skein.SessionID(r.stem))
	if r.agent = strings.HasPrefix(r.stem, "agent-"); r.agent {
		if b, ok := f.Beside(r.stem + ".meta.json"); ok {
			_ = jsonv2.Unmarshal(b, &r.meta, options()) // what cannot be read is ignored
		}
		if dir, _, ok := strings.Cut(filepath.ToSlash(f.Path), "/subagents/"); ok {
			r.folder = dir[strings.LastIndexByte(dir, '/')+1:]
		}
	}
	return r
}

func newThread(name string, id skein.SessionID) *thread {
	return &thread{name: name, id: id, titles: map[skein.By]string{}, segments: []segment{{}}}
}

// A making is what becomes of one record.
type making struct {
	line
	body   []byte
	run    bool // see interop.Line
	time   skein.Time
	thread *thread
	blobs  []skein.Blob // of the next item
	out    interop.Made
}

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	m := &making{body: l.Body, run: l.Run}
	if err := jsonv2.Unmarshal(l.Body, &m.line, options()); err != nil {
		return interop.Made{}, plain(err)
	}
	if t, err := skein.ParseTime(string(m.Timestamp)); err == nil && t.Std().Year() > 1 {
		m.time = t
	}
	m.out.Key = r.key(m)
	m.thread = r.threadOf(m)
	n := r.node(m)
	r.make(m, n)
	m.out.Floating = !tells(m.out.Items)
	r.settle(m, n)
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

// plain returns err in words for users.
func plain(err error) error {
	var s *jsonv2.SemanticError
	if errors.As(err, &s) {
		return fmt.Errorf("no object of a transcript: %v", s.JSONKind)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
}

func (r *reader) make(m *making, n *node) {
	switch {
	case m.Type == "user", m.Type == "assistant":
		r.message(m, n)
	case m.Type == "summary":
		r.summary(m)
	case m.Type == "custom-title":
		r.title(m, skein.ByPerson, string(m.CustomTitle))
	case m.Type == "ai-title":
		r.title(m, skein.ByModel, string(m.AITitle))
	case m.Type == "attachment" && m.Attachment.Type == "queued_command":
		r.steer(m)
	case m.Type == "progress" && m.Data.Type == "agent_progress":
		r.note(m)
		r.agentRuns(m)
	case m.Type == "system":
		r.system(m)
	case m.Type == "last-prompt":
		r.stand(m, n)
		r.note(m)
	case isNoted(string(m.Type)):
		r.note(m)
	default:
		if m.out.Unknown = true; !m.run {
			r.note(m)
		}
	}
	if m.UUID != "" {
		if it, ok := r.leaves[string(m.UUID)]; ok {
			delete(r.leaves, string(m.UUID))
			r.add(m, m.thread, it.Event)
		}
	}
}

// isNoted reports whether lines of a type are known to be only noted.
func isNoted(kind string) bool {
	switch kind {
	case "attachment", "progress", "mode", "permission-mode", "queue-operation", "pr-link", "file-history-snapshot", "file-history-delta",
		"agent-name", "agent-color", "agent-setting", "tag", "task-summary", "worktree-state", "content-replacement", "atis-latch":
		return true
	}
	return false
}

// note keeps the whole line as a noted event.
func (r *reader) note(m *making) {
	name, level := string(m.Type), ""
	if m.Type == "system" {
		level = string(m.Level)
	}
	if m.Type == "system" && m.Subtype == "api_error" {
		level = "error"
	}
	// By hand, so that the bytes do not change. The session is left out: a copy names
	// another one.
	b := append([]byte(`{"name":`), skein.MustJSON(Name+":"+clip(name))...)
	if level != "" {
		b = append(append(b, `,"level":`...), skein.MustJSON(clip(level))...)
	}
	b = append(append(append(b, `,"data":`...), without(m.body, "sessionId", "sessionKind")...), '}')
	r.add(m, m.thread, skein.Event{Kind: skein.KindNoted, Time: m.time, Payload: b})
}

// clip shortens a name that comes from a file.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 64)], "") }

// add adds an event to t and returns its ordinal.
func (r *reader) add(m *making, t *thread, e skein.Event) int {
	r.begin(m, t)
	t.count++
	m.out.Items = append(m.out.Items, interop.Item{Session: t.name, Event: e, Blobs: m.blobs})
	m.blobs = nil
	return t.count
}

// last returns the item that was added last.
func (m *making) last() *interop.Item { return &m.out.Items[len(m.out.Items)-1] }
