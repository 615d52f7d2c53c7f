package gemini

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A message is one of a list that replaces all messages.
type message struct {
	id  string
	o   loose.Object
	raw jsontext.Value
	at  int // where it is in the conversation; -1 if it is new
}

// replace replaces the conversation by list: after a compaction, or with shortened
// tool results.
func (c *change) replace(list []jsontext.Value) {
	r := c.r
	var all []message
	places := make(map[*entry]int, len(r.live))
	for i, e := range r.live {
		places[e] = i
	}
	for _, v := range list {
		o, err := loose.Parse(v)
		if err != nil {
			continue
		}
		m := message{id: loose.Str(o.Get("id")), o: o, raw: v, at: -1}
		if m.id == "" {
			m.id = "#" + short(string(v))
		}
		if e := r.byID[m.id]; e != nil {
			m.at = places[e]
		}
		if m.at >= 0 || !r.echo(o) {
			all = append(all, m)
		}
	}
	all = c.reopened(all)
	if !c.compacted(all) {
		c.rewritten(all)
	}
}

// reopened handles the context that the program sends the model each time it starts,
// and with which a resumed session begins: it replaces the context before or, if none
// was kept, is not part of the conversation.
func (c *change) reopened(all []message) []message {
	r := c.r
	if len(all) < 2 || len(r.live) == 0 || all[0].at >= 0 || !opens(all[0].o) {
		return all
	}
	first := r.live[0]
	if slices.ContainsFunc(all, func(m message) bool { return m.at == 0 }) {
		return all[1:]
	}
	if !first.opens || all[1].at != 1 {
		return all
	}
	delete(r.byID, first.id)
	first.id, all[0].at = all[0].id, 0
	r.byID[first.id] = first
	return all
}

// opens reports whether a message is only the context that the program sends the
// model when it starts.
func opens(o loose.Object) bool {
	if o.Str("type") != "user" {
		return false
	}
	texts := (&reader{waiting: map[string][]string{}}).gather("", o.Get("content")).texts()
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(t string) bool { return !opening(t) })
}

// echo reports whether a message has only results that were read already.
func (r *reader) echo(o loose.Object) bool {
	parts := o.List("content")
	for _, v := range parts {
		p, err := loose.Parse(v)
		f := p.Obj("functionResponse")
		if err != nil || f == nil || r.calls[f.Str("id")] == "" {
			return false
		}
	}
	return len(parts) > 0
}

// compacted reads a list that has the end of the conversation in order, with at most
// a summary before it and new messages after it. It returns false and does nothing
// for any other list, such as the first one of a file, which the context begins.
func (c *change) compacted(all []message) bool {
	r := c.r
	if len(r.live) == 0 && len(all) > 0 && opens(all[0].o) {
		return false
	}
	first := slices.IndexFunc(all, func(m message) bool { return m.at >= 0 })
	if first < 0 {
		first = min(len(all), 1)
		if len(all) > 1 && all[1].o.Str("type") != "user" {
			first = 2 // the model's "Got it."
		}
	} else if dropped := all[first].at; first > 0 && dropped == 0 {
		return false
	}
	last := -1
	fresh := false
	for _, m := range all[first:] {
		if m.at >= 0 && (fresh || m.at <= last) {
			return false
		}
		fresh = fresh || m.at < 0
		last = max(last, m.at)
	}
	kept := append([]message{}, all[first:]...)
	was := r.live
	r.live = nil
	if first > 0 {
		to := c.last()
		if len(kept) > 0 && kept[0].at >= 0 {
			to = was[kept[0].at].first
		}
		c.summary(all[:first], to)
	}
	c.keep(was, kept, first > 0)
	return true
}

// summary adds a compaction with the text of these messages.
func (c *change) summary(ms []message, to int) {
	var texts []string
	var at skein.Time
	for _, m := range ms {
		if at = max(at, loose.Stamp(m.o.Get("timestamp"))); m.o.Str("type") == "user" {
			texts = append(texts, c.r.gather(m.id, m.o.Get("content")).texts()...)
		}
		e := &entry{id: m.id, first: c.last() + 1, head: true} // the compaction stays
		c.r.live = append(c.r.live, e)
		c.r.byID[m.id] = e
	}
	what := skein.Compacted{Summary: skein.Text(strings.Join(texts, "\n\n")).UTF8()}
	c.add(piece{event: skein.NewEvent(skein.KindCompacted, at, what), to: to})
}

// keep keeps these of the earlier messages; the others are withdrawn, unless a
// summary covers them.
func (c *change) keep(was []*entry, kept []message, covered bool) {
	r := c.r
	here := map[*entry]bool{}
	for _, m := range kept {
		if m.at < 0 {
			c.begin(m.id, m.o, r.pieces(m.id, m.o, m.raw))
			continue
		}
		e := was[m.at]
		here[e] = true
		r.live = append(r.live, e)
		if !e.head {
			c.grow(e, r.pieces(m.id, m.o, m.raw))
		}
	}
	seen := false
	for _, e := range was {
		if here[e] {
			seen = true
			continue
		}
		delete(r.byID, e.id)
		for i := range e.slots {
			if seen || !covered {
				c.withdraw(&e.slots[i])
			}
		}
	}
}

// rewritten reads any list: the beginning that it shares with the conversation stays,
// everything after that is said again.
func (c *change) rewritten(all []message) {
	r := c.r
	same := 0
	for same < len(all) && same < len(r.live) && all[same].at == same {
		same++
	}
	if same < len(r.live) {
		c.back(same)
	}
	for i, m := range all {
		switch ps := r.pieces(m.id, m.o, m.raw); {
		case i >= same:
			c.begin(m.id, m.o, ps)
		case !r.live[i].head:
			c.grow(r.live[i], ps)
		}
	}
}
