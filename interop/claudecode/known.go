package claudecode

import (
	"fmt"
	"path"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/skein-dev/skein"
)

// known is what the file has that is to go on.
type known struct {
	leaf  string // UUID of the newest line of the conversation
	uuids map[string]bool
	names bool // a line of it names the newest line, as newer versions do
}

// look reads what the file has.
func (w *writer) look() error {
	w.known = &known{uuids: map[string]bool{}}
	w.id = stemOf(w.path)
	w.session = w.id
	agent, isAgent := strings.CutPrefix(w.id, "agent-")
	if isAgent {
		w.agentID, w.session = agent, stemOf(path.Dir(path.Dir(w.path)))
	}
	for r, err := range w.d.Known {
		if err != nil {
			return err
		}
		var l line
		if r.Damage != "" || jsonv2.Unmarshal(r.Raw, &l, options()) != nil {
			continue
		}
		w.known.names = w.known.names || l.Type == "last-prompt" && l.Leaf != ""
		if l.UUID == "" {
			continue
		}
		w.known.uuids[string(l.UUID)] = true
		w.version, w.cwd, w.branch = first(string(l.Version), w.version), first(string(l.Cwd), w.cwd), string(l.Branch)
		if t, err := skein.ParseTime(string(l.Timestamp)); err == nil && t.Std().Year() > 1 {
			w.latest = max(w.latest, t)
		}
		if !chained(&l) || bool(l.Sidechain) != isAgent {
			continue
		}
		w.known.leaf = string(l.UUID)
		if isAgent && l.Session != "" {
			w.session = string(l.Session)
		}
		w.asked = true
	}
	if w.known.leaf == "" {
		return fmt.Errorf("%w: %s has no line to go on from", skein.ErrInvalid, w.path)
	}
	return nil
}

// chained reports whether others can hang on a line.
func chained(l *line) bool {
	return l.Type == "user" || l.Type == "assistant" || l.Type == "attachment" || l.Type == "system"
}

// goBack finds the line that the session goes on from if it went back since it
// was read: that of the newest message before it that is left.
func (w *writer) goBack() {
	back := false
	for _, e := range w.d.Events {
		back = back || e.Kind == skein.KindRewound && e.Seq > w.d.After
	}
	if !back {
		return
	}
	w.parent = ""
	for i := len(w.entries) - 1; i >= 0; i-- {
		e := &w.entries[i]
		if e.Seq > w.d.After {
			continue
		}
		if leaf := w.leafOf(e); leaf != "" {
			w.parent = leaf
			return
		}
	}
}

// leafOf returns the newest line in the file that a message was read from or
// written to.
func (w *writer) leafOf(e *skein.Entry) string {
	for seq := e.End; seq >= e.Seq; seq-- {
		if u := w.uuids[seq]; w.known.uuids[u] {
			return u
		}
	}
	all := w.leaves[e.Seq]
	for i := len(all) - 1; i >= 0; i-- {
		if w.known.uuids[all[i]] {
			return all[i]
		}
	}
	return ""
}
