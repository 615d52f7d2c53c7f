package amplifier

import (
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// metadata returns the new metadata.json: what it had, and what is new.
func (w *writer) metadata() []byte {
	s, o := w.d.Session, w.meta
	o.setStr("session_id", w.id)
	if w.parent != "" {
		o.setStr("parent_id", w.parent)
	}
	if w.d.After == 0 {
		w.descent(&o)
		created := s.Created.Std()
		if created.IsZero() {
			created = w.d.Now
		}
		if o.get("created") == nil {
			o.setStr("created", micro(created))
		}
	}
	if s.Profile != "" && o.get("bundle") == nil && s.Origin != nil && s.Origin.Format == Name {
		o.setStr("bundle", "bundle:"+s.Profile)
	}
	if model := strings.TrimPrefix(s.Provider+"/"+s.Model, "/"); s.Model != "" {
		o.setStr("model", model)
	}
	o.set("turn_count", strconv.AppendInt(nil, int64(w.turns), 10))
	if cwd := w.cwd(); cwd != "" && o.get("working_dir") == nil && w.d.After == 0 {
		o.setStr("working_dir", cwd)
	}
	if s.Title != "" && s.Title != o.str("name") {
		name := []rune(s.Title)
		if len(name) > maxName {
			w.losses.Add(w.end(), "title: cut at 50 characters")
		}
		o.setStr("name", string(name[:min(len(name), maxName)]))
		o.setStr("name_generated_at", micro(w.d.Now))
	}
	if s.Description != "" && s.Description != o.str("description") {
		o.setStr("description", s.Description)
		o.setStr("description_updated_at", micro(w.d.Now))
	}
	return o.indented()
}

// maxName is the maximum length of a session's name, in characters.
const maxName = 50

// descent adds the parent of a fork or of a sub-agent's session.
func (w *writer) descent(o *object) {
	p := w.d.Session.Parent
	switch {
	case p == nil || w.parent == "":
	case w.child:
		o.setStr("trace_id", w.parent)
		o.setStr("agent_name", or(w.d.Session.Agent, "agent"))
		if _, span, ok := strings.Cut(w.id, "-"); ok {
			span, _, _ = strings.Cut(span, "_")
			o.setStr("child_span", span)
		}
	case p.Why == skein.Fork:
		turns := 0
		for _, l := range w.said {
			if l.seq <= w.d.Session.Base && strings.HasPrefix(string(l.body.Gist()), `{"role": "user"`) {
				turns++
			}
		}
		o.set("forked_from_turn", strconv.AppendInt(nil, int64(turns), 10))
		o.setStr("forked_at", micro(w.d.Session.Created.Std()))
	}
}
