package claudecode

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// A reader reads one file.
type reader struct {
	*threads

	tree     *tree
	equals   map[uuid]int // number of lines without a UUID, by hash
	leaves   map[string]interop.Item
	boundary compactMeta
}

func open(f interop.File) interop.Reader {
	ts := &threads{stem: strings.TrimSuffix(filepath.Base(f.Path), ".jsonl"), sides: map[string]*thread{}, calls: newCallIndex()}
	ts.main = newThread("", skein.SessionID(ts.stem))
	if ts.agent = strings.HasPrefix(ts.stem, "agent-"); ts.agent {
		if b, ok := f.Beside(ts.stem + ".meta.json"); ok {
			_ = jsonv2.Unmarshal(b, &ts.meta, options()) // what cannot be read is ignored
		}
		if dir, _, ok := strings.Cut(filepath.ToSlash(f.Path), "/subagents/"); ok {
			ts.folder = dir[strings.LastIndexByte(dir, '/')+1:]
		}
	}
	return &reader{threads: ts, tree: &tree{threads: ts, nodes: nodes{}, awaited: map[uuid]int32{}}, equals: map[uuid]int{}, leaves: map[string]interop.Item{}}
}

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (interop.Made, error) {
	m := &making{body: l.Body, run: l.Run, calls: r.calls}
	if err := jsonv2.Unmarshal(l.Body, &m.line, options()); err != nil {
		return interop.Made{}, plain(err)
	}
	if t, err := skein.ParseTime(string(m.Timestamp)); err == nil && t.Std().Year() > 1 {
		m.time = t
	}
	m.out.Key = r.key(m)
	m.thread = r.tree.threadOf(m)
	n := r.tree.node(m)
	r.make(m, n)
	m.out.Floating = !tells(m.out.Items)
	r.tree.settle(m, n)
	return m.out, nil
}

// key returns the record's key: its UUID or, for lines without one, a hash of the
// line and its number among equals. A line that a copy of the file has word for word
// has the same key there; one that contains the session's ID does not.
func (r *reader) key(m *making) skein.ClientID {
	if m.UUID != "" {
		return "cc:" + skein.ClientID(m.UUID)
	}
	h := sha256.New()
	if m.Type != "file-history-snapshot" && m.Type != "file-history-delta" {
		h.Write([]byte(r.stem))
	}
	h.Write([]byte{0})
	h.Write(m.body)
	sum := [32]byte(h.Sum(nil))
	r.equals[uuid(sum[:16])]++
	key := "cc:" + hex.EncodeToString(sum[:16])
	if n := r.equals[uuid(sum[:16])]; n > 1 {
		key += "." + strconv.Itoa(n)
	}
	return skein.ClientID(key)
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
		if e, ok := r.calls.agentRuns(m); ok {
			r.add(m, m.thread, e)
		}
	case m.Type == "system":
		r.system(m)
	case m.Type == "last-prompt":
		r.tree.resume(m, n)
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
