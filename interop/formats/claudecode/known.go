package claudecode

import (
	"fmt"
	"path"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/skein-dev/skein"
)

// known is what the existing file has.
type known struct {
	leaf   string               // UUID of the newest line of the conversation
	leaves map[skein.Seq]string // that of the newest line of a message or compaction
	uuids  map[string]bool
	names  bool // a line of it names the newest line, as newer versions do
}

// look reads the existing file.
func (w *writer) look() error {
	w.known = &known{leaves: map[skein.Seq]string{}, uuids: map[string]bool{}}
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
		at, _ := w.d.Tells(r)
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
		if at > 0 {
			w.known.leaves[at] = string(l.UUID)
		}
		if isAgent && l.Session != "" {
			w.session = string(l.Session)
		}
		w.asked = true
	}
	if w.known.leaf == "" {
		return fmt.Errorf("%w: %s has no line to continue from", skein.ErrInvalid, w.path)
	}
	return nil
}

// chained reports whether a line can have children.
func chained(l *line) bool {
	return l.Type == "user" || l.Type == "assistant" || l.Type == "attachment" || l.Type == "system"
}

// goBack finds, in all branches of the file, the line from which a session continues
// that was rewound since it was read: that of the newest step that is still live.
// What follows is written, even if it was said before.
func (w *writer) goBack() error {
	w.keep = w.d.After
	if w.known == nil {
		return nil
	}
	w.parent = w.known.leaf
	if !w.d.WentBack() {
		return nil
	}
	spans, err := skein.OnLine(w.d.Events, w.d.Events[len(w.d.Events)-1].Seq)
	if err != nil {
		return err
	}
	for seq, u := range w.uuids {
		if w.known.uuids[u] {
			w.known.leaves[seq] = u
		}
	}
	w.keep, w.parent = 0, ""
	for seq, leaf := range w.known.leaves {
		if seq > w.keep && slices.ContainsFunc(spans, func(s skein.SeqRange) bool { return s.From < seq && seq <= s.To }) {
			w.keep, w.parent = seq, leaf
		}
	}
	return nil
}
