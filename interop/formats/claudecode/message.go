package claudecode

import (
	"cmp"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// message makes the events of a user's or an assistant's line.
func (r *reader) message(m *making, n *node) {
	if m.Type == "assistant" {
		r.answer(m, n)
		return
	}
	if m.CompactSummary {
		r.compacted(m, n)
		return
	}
	parts, results := m.userParts()
	typed := len(parts) > 0 && !synthetic(m, parts)
	if words, ok := command(m, parts); ok {
		// The envelope is kept; what the user typed is added beside it.
		parts[0].Synthetic, typed = true, true
		parts = append(parts, skein.TextPart(words))
	}
	r.tree.enter(m, n, len(results) == 0 && len(parts) > 0 && !bool(m.Meta) && !continues(parts))
	var rich toolUseResult
	if len(results) > 0 {
		rich = m.rich()
		said := skein.Message{Role: skein.RoleTool, Parts: results, Meta: rich.facts()}
		n.ordinal = int32(r.add(m, m.thread, skein.Say(m.time, said)))
	}
	if len(parts) > 0 || len(results) == 0 {
		said := skein.Message{Role: skein.RoleUser, Parts: parts, Synthetic: !typed}
		n.ordinal = int32(r.add(m, m.thread, skein.Say(m.time, said)))
	}
	for _, e := range r.calls.agentEnds(m, results, &rich) {
		r.add(m, m.thread, e)
	}
}

// answer makes the event of an assistant's line: a piece of a message.
func (r *reader) answer(m *making, n *node) {
	r.tree.enter(m, n, false)
	said := skein.Message{
		ID: string(m.Message.ID), Role: skein.RoleAssistant, Provider: "anthropic", Model: string(m.Message.Model),
		Request: request(m), Stop: string(m.Message.Stop), Tier: m.Message.Usage.tier(), Usage: m.used(),
		Parts: m.parts(m.Message.Content),
	}
	if m.Message.Model == "<synthetic>" || bool(m.APIError) {
		said.Model, said.Provider, said.Tier, said.Usage, said.Synthetic = "", "", "", nil, true
	}
	if m.APIError || m.Error != "" {
		said.Error = &skein.ErrorInfo{Kind: string(m.Error), Message: "API error", Status: int(m.APIErrorStatus)}
	}
	n.ordinal = int32(r.add(m, m.thread, skein.Say(m.time, said)))
	r.calls.remember(said.Parts, int(n.ordinal))
	r.tree.hide(m)
}

// request returns the name of the paid request that a line belongs to.
func request(m *making) string {
	switch id, req := string(m.Message.ID), string(m.Request); {
	case id == "":
		return req
	case req == "":
		return id
	default:
		return id + "/" + req
	}
}

// used returns what the request of a line used, and what the program says that it
// cost; nil if nothing.
func (m *making) used() *skein.Usage {
	u := m.Message.Usage.usage()
	if m.Cost > 0 {
		if u == nil {
			u = &skein.Usage{}
		}
		u.Reported = int64(m.Cost)
	}
	return u
}

// usage returns what a request used; nil if nothing.
func (u *usage) usage() *skein.Usage {
	if u == nil {
		return nil
	}
	used := skein.Usage{
		Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead),
		CacheWrite: max(int64(u.CacheWrite), int64(u.Created.Minutes+u.Created.Hour)), CacheHour: int64(u.Created.Hour),
	}
	if used == (skein.Usage{}) {
		return nil
	}
	return &used
}

// tier returns the service tier of a request. A fast one has another price.
func (u *usage) tier() string {
	if u == nil {
		return ""
	}
	return cmp.Or(skein.ServiceTier(string(u.Speed)), skein.ServiceTier(string(u.Tier)))
}

// compacted makes the event of a summary of what came before.
func (r *reader) compacted(m *making, n *node) {
	at := m.thread.count
	n.segment = int32(m.thread.current)
	r.add(m, m.thread, skein.NewEvent(skein.KindCompacted, m.time, skein.Compacted{
		Summary: promptText(m.Message.Content), Trigger: string(r.boundary.Trigger),
		Before: int64(r.boundary.PreTokens), After: int64(r.boundary.PostTokens),
	}))
	m.last().To = at
	r.boundary = compactMeta{}
}

// steer makes a message of what the user typed while the agent worked.
func (r *reader) steer(m *making) {
	parts := m.parts(m.Attachment.Prompt)
	if len(parts) == 0 {
		r.note(m)
		return
	}
	said := skein.Message{Role: skein.RoleSteer, Parts: parts}
	said.Synthetic = m.Attachment.Mode == "task-notification" || bool(m.Meta)
	r.add(m, m.thread, skein.Say(m.time, said))
}

// continues reports whether parts are the output of a local command, which continues the
// prompt before it.
func continues(parts []skein.Part) bool {
	return len(parts) > 0 && strings.HasPrefix(string(parts[0].Text), "<local-command-std")
}

// synthetic marks the parts that are envelopes and reports whether there is nothing
// else, or the line says that a program wrote it.
func synthetic(m *making, parts []skein.Part) bool {
	all := true
	for i := range parts {
		p := &parts[i]
		if p.Kind == skein.PartText && skein.Wrapped(string(p.Text)) {
			p.Synthetic = true
		}
		all = all && p.Synthetic
	}
	if all && len(parts) > 0 {
		for i := range parts {
			parts[i].Synthetic = false // the message is
		}
	}
	return all || bool(m.Meta) || bool(m.VisibleOnlyInLog) || m.PromptSource == "system" || m.Origin.Kind == "task-notification"
}

// promptText returns the text of a message's content.
func promptText(content raw) string {
	if s, ok := skein.Unquote(content); ok {
		return s
	}
	var all []string
	for _, b := range blocks(content) {
		if words, ok := b.words(); ok && b.Type == "text" {
			all = append(all, words)
		}
	}
	return strings.Join(all, "\n")
}

// system makes the event of a system line.
func (r *reader) system(m *making) {
	if m.Subtype == "compact_boundary" {
		r.boundary = m.Compact
	}
	r.note(m)
	r.tree.hide(m)
}

// title makes a titled event, if the title has changed.
func (ts *threads) title(m *making, by skein.By, title string) {
	if title == "" || ts.main.titles[by] == title {
		return
	}
	ts.main.titles[by] = title
	ts.add(m, ts.main, titled(m, by, title))
}

func titled(m *making, by skein.By, title string) skein.Event {
	return skein.NewEvent(skein.KindTitled, m.time, skein.Titled{Title: title, By: by})
}

// summary gives a title to the session that has the line it names: this one,
// now or when the line comes, or another.
func (r *reader) summary(m *making) {
	if m.Summary == "" {
		r.note(m)
		return
	}
	e := titled(m, skein.BySource, string(m.Summary))
	if n, ok := r.tree.nodes[uuidOf(string(m.Leaf))]; ok {
		r.add(m, n.thread, e)
		return
	}
	if m.Leaf != "" {
		r.leaves[string(m.Leaf)] = interop.Item{Event: e}
		m.out.Apart = append(m.out.Apart, interop.Apart{Of: skein.ClientID("cc:" + m.Leaf), Event: e})
	}
	r.note(m)
}
