package amplifier

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
)

// facts is what metadata.json says about a session.
type facts struct {
	created                             skein.Time
	cwd, bundle, provider, model, agent string
	name, description, parent           string
	forked                              bool // parent is the session that it was forked from
}

func factsOf(o object) facts {
	f := facts{
		created: moment(o.str("created")), cwd: o.str("working_dir"), agent: clip(o.str("agent_name")),
		bundle: clip(strings.TrimPrefix(o.str("bundle"), "bundle:")), model: clip(o.str("model")),
		name: o.str("name"), description: o.str("description"), parent: o.str("parent_id"),
	}
	if provider, model, ok := strings.Cut(f.model, "/"); ok {
		f.provider, f.model = provider, model
	}
	_, turn := o.text("forked_at")
	f.forked = f.parent != "" && (turn || o.get("forked_from_turn") != nil)
	return f
}

// clip shortens a name that comes from a file.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 200)], "") }

// factsBeside reads the metadata of the session in the folder dir, or its
// backup.
func factsBeside(f interop.File, dir string) facts {
	for _, name := range [...]string{metadata, metadata + backup} {
		if b, ok := f.Beside(dir + "/" + name); ok {
			if o, err := parse(bytes.TrimSpace(b)); err == nil {
				return factsOf(o)
			}
		}
	}
	return facts{}
}

// volatile returns the names of the members that change with every save, or are in a
// titled event.
func volatile(titled bool) []string {
	names := []string{"turn_count", "incremental"}
	if titled {
		names = append(names, "name", "name_generated_at", "description", "description_updated_at")
	}
	return names
}

// metadata makes the events of metadata.json: noted, changed, and titled if there is
// a name. Their positions must not change, because they name the events.
func (r *reader) metadata(m *making, in folder.Line) error {
	data := bytes.TrimSpace(bytes.TrimPrefix(in.Data(), []byte("\xef\xbb\xbf")))
	if !utf8.Valid(data) {
		return errUTF8
	}
	vs, err := values(data)
	if err != nil || len(vs) != 1 {
		if err == nil {
			err = errNoObject
		}
		return err
	}
	o, err := parse(vs[0])
	if err != nil {
		return err
	}
	r.known = true
	f := factsOf(o)
	m.time = f.created
	m.out.Key = skein.ClientID("amp:metadata:" + r.id)
	kept := o.without(volatile(f.name != "")...)
	if err := kept.Compact(); err != nil {
		return plain(err)
	}
	m.add(note(0, "metadata", "", kept))
	m.add(skein.NewEvent(skein.KindChanged, 0, skein.Changed{
		Cwd: some(f.cwd), Project: some(f.cwd), Profile: some(f.bundle), Provider: some(f.provider), Model: some(f.model), Agent: some(f.agent),
	}))
	if f.name != "" {
		m.add(skein.NewEvent(skein.KindTitled, moment(o.str("name_generated_at")), skein.Titled{
			Title: f.name, Description: f.description, By: skein.ByModel,
		}))
	}
	return nil
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// note returns an event that keeps data, which is valid JSON, unchanged.
func note(at skein.Time, name, level string, data []byte) skein.Event {
	b := append([]byte(`{"name":`), skein.MustJSON(Name+":"+clip(name))...)
	if level != "" {
		b = append(append(b, `,"level":`...), skein.MustJSON(level)...)
	}
	if len(data) > 0 {
		b = append(append(b, `,"data":`...), data...)
	}
	return skein.Event{Kind: skein.KindNoted, Time: at, Payload: append(b, '}')}
}
