package claudecode

import (
	"fmt"
	"path"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/skein-dev/skein"
)

// look reads the existing file.
func (o *output) look() error {
	o.known = &known{leaves: map[skein.Seq]string{}, uuids: map[string]bool{}}
	o.id = stemOf(o.path)
	o.session = o.id
	agent, isAgent := strings.CutPrefix(o.id, "agent-")
	if isAgent {
		o.agentID, o.session = agent, stemOf(path.Dir(path.Dir(o.path)))
	}
	for r, err := range o.d.Known {
		if err != nil {
			return err
		}
		at, _ := o.d.Tells(r)
		var l line
		if r.Damage != "" || jsonv2.Unmarshal(r.Raw, &l, options()) != nil {
			continue
		}
		o.known.names = o.known.names || l.Type == "last-prompt" && l.Leaf != ""
		if l.UUID == "" {
			continue
		}
		o.known.uuids[string(l.UUID)] = true
		o.version, o.cwd, o.branch = first(string(l.Version), o.version), first(string(l.Cwd), o.cwd), string(l.Branch)
		if t, err := skein.ParseTime(string(l.Timestamp)); err == nil && t.Std().Year() > 1 {
			o.latest = max(o.latest, t)
		}
		if !chained(&l) || bool(l.Sidechain) != isAgent {
			continue
		}
		o.known.leaf = string(l.UUID)
		if at > 0 {
			o.known.leaves[at] = string(l.UUID)
		}
		if isAgent && l.Session != "" {
			o.session = string(l.Session)
		}
		o.asked = true
	}
	if o.known.leaf == "" {
		return fmt.Errorf("%w: %s has no line to continue from", skein.ErrInvalid, o.path)
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
func (o *output) goBack() error {
	o.keep = o.d.After
	if o.known == nil {
		return nil
	}
	o.parent = o.known.leaf
	if !o.d.WentBack() {
		return nil
	}
	spans, err := skein.OnLine(o.d.Events, o.d.Events[len(o.d.Events)-1].Seq)
	if err != nil {
		return err
	}
	for seq, u := range uuidsOf(o.d.Events) {
		if o.known.uuids[u] {
			o.known.leaves[seq] = u
		}
	}
	o.keep, o.parent = 0, ""
	for seq, leaf := range o.known.leaves {
		if seq > o.keep && slices.ContainsFunc(spans, func(s skein.SeqRange) bool { return s.From < seq && seq <= s.To }) {
			o.keep, o.parent = seq, leaf
		}
	}
	return nil
}

// uuidsOf returns the UUIDs of the lines that events were read from.
func uuidsOf(events []skein.Event) map[skein.Seq]string {
	all := map[skein.Seq]string{}
	for _, e := range events {
		if u, ok := strings.CutPrefix(string(e.ClientID), "cc:"); ok {
			all[e.Seq], _, _ = strings.Cut(u, "/")
		}
	}
	return all
}
