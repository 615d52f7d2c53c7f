package pi

import (
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// systemType is the customType of a written system message: pi has no such role.
const systemType = "skein.system"

// rewoundType is the customType of an entry that is written if nothing follows a
// rewind.
const rewoundType = "skein.rewound"

// An act is what is to be written for an event: a message, or anything else that the
// program can store.
type act struct {
	event skein.Event    // the first, for a message
	entry *skein.Entry   // nil if it is not a message
	new   bool           // it came after what the file has
	moved []*skein.Entry // results that come later, and belong before it
}

// acts returns what is to be written, in order.
func (w *writer) acts() (acts []act, err error) {
	entries, err := w.d.Entries()
	if err != nil {
		return nil, err
	}
	said := map[skein.Seq]*skein.Entry{}
	for i := range entries {
		said[entries[i].Seq] = &entries[i]
	}
	for _, e := range w.d.Events {
		a := act{event: e, entry: said[e.Seq], new: e.Seq > w.d.After}
		switch e.Kind {
		case skein.KindSaid:
			if a.entry != nil {
				acts = append(acts, a)
			}
		case skein.KindCreated, skein.KindCompacted, skein.KindRewound, skein.KindTitled, skein.KindChanged:
			acts = append(acts, a)
		}
	}
	return acts, nil
}

// act writes an act.
func (w *writer) act(a act) {
	switch {
	case !a.new:
		return
	case a.entry != nil:
		w.told = max(w.told, a.event.Seq-1)
		w.messages.message(a)
	case a.event.Kind == skein.KindRewound:
		if r, err := skein.Decode[skein.Rewound](a.event); err == nil {
			w.leaf, w.back = w.leafAt(r.To), a.event
		}
		if w.linear {
			w.losses.Add(a.event.Seq, "rewinds: a file of the first version has no branches")
		}
	default:
		w.state(a.event)
	}
	w.leaves = append(w.leaves, leaf{a.event.Seq, w.leaf})
	w.tell(a)
}

// endRewound writes a meaningless entry if nothing was written since a rewind: pi continues
// from the last entry.
func (w *writer) endRewound() {
	if w.linear || w.back.Seq == 0 || w.leaf == w.newest && len(w.lines) > 0 {
		return
	}
	w.told = max(w.told, w.back.Seq)
	w.entry(w.back, "custom", signOut{rewoundType})
}

// tell marks the last line as covering everything in a.
func (out *output) tell(a act) {
	seq := a.event.Seq
	if a.entry != nil {
		seq = max(seq, a.entry.End)
	}
	out.told = max(out.told, seq)
	if n := len(out.lines); n > 0 && (n == 1 || out.lines[n-1].Seq < out.told) {
		out.lines[n-1].Seq = out.told
	}
}

// state writes an event that is not a message.
func (w *writer) state(e skein.Event) {
	switch e.Kind {
	case skein.KindCreated:
		if c, err := skein.Decode[skein.Created](e); err == nil && w.d.After == 0 {
			w.model(e, c.Provider, c.Model)
			w.name(e, c.Title)
		}
	case skein.KindChanged:
		if c, err := skein.Decode[skein.Changed](e); err == nil && c.Model != nil {
			provider := ""
			if c.Provider != nil {
				provider = *c.Provider
			}
			w.model(e, provider, *c.Model)
		}
	case skein.KindTitled:
		if t, err := skein.Decode[skein.Titled](e); err == nil {
			w.name(e, t.Title)
		}
	case skein.KindCompacted:
		if c, err := skein.Decode[skein.Compacted](e); err == nil && !c.Failed {
			w.compacted(e, c)
		}
	}
}

// model writes the model of a session that came from pi, if pi set it: pi may not
// have the model of another program's session.
func (w *writer) model(e skein.Event, provider, model string) {
	if provider == "" {
		provider = w.d.Session.Provider
	}
	switch {
	case model == "":
	case !w.own || !strings.HasPrefix(string(e.ClientID), keyPrefix) && e.ClientID != interop.CreatedID:
		w.losses.Add(e.Seq, "model: pi continues with the one in its settings")
	case provider != "":
		w.entry(e, "model_change", modelOut{provider, model})
	}
}

// ownModel ends a session of another program with the model of pi's settings:
// otherwise pi would continue with that of the last answer, if it has that model.
func (w *writer) ownModel() {
	if w.own || w.linear || w.d.After > 0 || w.d.Beside == nil || len(w.d.Events) == 0 {
		return
	}
	b, _ := w.d.Beside("settings.json") // it may be missing
	o, err := loose.Parse(b)
	if err != nil {
		return
	}
	if provider, model := o.Str("defaultProvider"), o.Str("defaultModel"); provider != "" && model != "" {
		w.entry(w.d.Events[len(w.d.Events)-1], "model_change", modelOut{provider, model})
	}
}

// name writes a title: on one line, as the program would.
func (w *writer) name(e skein.Event, title string) {
	title = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, title))
	if title != "" {
		w.entry(e, "session_info", infoOut{title})
	}
}

func (w *writer) compacted(e skein.Event, c skein.Compacted) {
	summary := c.Summary
	if len(c.Opaque) > 0 {
		w.losses.Add(e.Seq, "compaction: what only its provider can read")
	}
	if w.linear {
		w.losses.Add(e.Seq, "compaction: a file of the first version is not changed")
		return
	}
	i := slices.IndexFunc(w.firsts, func(l leaf) bool { return l.seq > c.To })
	kept := "" // nothing
	if i >= 0 {
		kept = w.firsts[i].id
	}
	w.entry(e, "compaction", compactOut{summary, kept, c.Before})
}
