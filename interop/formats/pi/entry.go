package pi

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// entry makes the events of a record that is not a header. There is at least one,
// unless the record continues a run of unknown ones.
func (r *reader) entry(m *making) {
	had := len(m.out.Items)
	switch m.kind {
	case "message":
		r.message(m)
	case "custom_message":
		r.custom(m, m.Object)
	case "compaction":
		r.compaction(m)
	case "branch_summary":
		r.summary(m, m.Str("summary"), "branch_summary")
		r.spent(m, m.Object, "branch_summary")
	case "model_change":
		r.model(m)
	case "session_info":
		r.titled(m, m.Str("name"), "user")
	case "title_change":
		r.titled(m, m.Str("title"), m.Str("source"))
	case "usage":
		r.spent(m, m.Object, m.Str("kind"))
	case "model_usage":
		r.spent(m, m.Object, m.Str("purpose"))
	case "custom":
		r.note(m, "custom/"+m.Str("customType"))
	case "label", "thinking_level_change", "context_edit", typeHeader:
		r.note(m, m.kind)
	default:
		if m.out.Unknown = true; m.run {
			return
		}
	}
	if len(m.out.Items) == had {
		r.note(m, m.kind)
	}
}

func (r *reader) compaction(m *making) {
	to := r.kept(m.Object)
	c := skein.Compacted{Summary: m.Str("summary"), Before: m.Count("tokensBefore"), After: m.Count("tokensAfter"), Trigger: clip(m.Str("method"))}
	r.add(m, skein.NewEvent(skein.KindCompacted, m.time, c)).To = to
	r.spent(m, m.Object, "compaction")
}

// summary adds the summary of an abandoned branch.
func (r *reader) summary(m *making, text, kind string) {
	if text == "" {
		return
	}
	said := skein.Message{
		Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{{Kind: skein.PartSummary, Text: skein.Text(text)}},
		Meta: skein.MustJSON(map[string]string{"type": kind}),
	}
	r.add(m, skein.Say(m.time, said))
}

// model makes a changed event. Oh My Pi has models for several roles; only the
// usual one is the session's.
func (r *reader) model(m *making) {
	provider, model := m.Str("provider"), m.Str("modelId")
	if role := m.Str("role"); role != "" && role != "default" {
		return
	}
	if both := m.Str("model"); model == "" && both != "" {
		var ok bool
		if provider, model, ok = strings.Cut(both, "/"); !ok {
			provider, model = "", both
		}
	}
	if model == "" {
		return
	}
	c := skein.Changed{Model: &model}
	if provider != "" {
		c.Provider = &provider
	}
	r.add(m, skein.NewEvent(skein.KindChanged, m.time, c))
}

// spent makes a step of a request that has no message of its own.
func (th *thread) spent(m *making, o loose.Object, mode string) {
	u := usage(o.Obj("usage"))
	if u == nil {
		return
	}
	s := skein.Step{Phase: "finish", Mode: clip(mode), Provider: o.Str("provider"), Model: o.Str("model"), Usage: u}
	if text := o.Str("errorMessage"); text != "" {
		s.Error = &skein.ErrorInfo{Message: text}
	}
	th.add(m, skein.NewEvent(skein.KindStep, m.time, s))
}

// maxCost is more than a request can cost, in US dollars.
const maxCost = 1e6

// usage returns a request's usage; nil if there is none. The input excludes cached
// tokens; the cost is the program's own calculation.
func usage(o loose.Object) *skein.Usage {
	u := skein.Usage{
		Input: o.Count("input"), Output: o.Count("output"), Reasoning: o.Count("reasoning"),
		CacheRead: o.Count("cacheRead"), CacheWrite: o.Count("cacheWrite"),
	}
	cost, _ := loose.Number(o.Obj("cost").Get("total"))
	if cost > 0 && cost < maxCost {
		u.Reported = int64(cost*1e9 + 0.5)
	}
	if u == (skein.Usage{}) {
		return nil
	}
	return &u
}
