package transcript

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// mark adds a mark for an event that is not a message.
func (t *transcriber) mark(e skein.Event) {
	if m := t.divider(&t.abridger, e); m != nil && t.marks(m) {
		m.Seq = e.Seq
		t.add(transcriptItem{Mark: m})
	}
}

// pageMarks makes the marks of one page.
type pageMarks struct {
	worker string // the program that worked last, and its host
}

// divider returns the mark for an event that is not a message; nil for none.
func (k *pageMarks) divider(texts *abridger, e skein.Event) *divider {
	var m *divider
	switch e.Kind {
	case skein.KindCompacted:
		m = compactedMark(texts, e)
	case skein.KindRewound:
		if r, err := skein.Decode[skein.Rewound](e); err == nil {
			m = &divider{Class: "rewound", Text: "Gone back to before the first message. The messages above are no longer part of the conversation."}
			if r.To > 0 {
				m.Text, m.To = "Gone back: the messages in between are no longer part of the conversation, which continues after", r.To
			}
		}
	case skein.KindTitled:
		if v, err := skein.Decode[skein.Titled](e); err == nil {
			m = &divider{Class: "note", Text: "Titled “" + render.Line(v.Title) + "” by " + byWhom(v.By)}
		}
	case skein.KindChanged:
		if v, err := skein.Decode[skein.Changed](e); err == nil {
			m = changedMark(&v)
		}
	case skein.KindStep:
		if v, err := skein.Decode[skein.Step](e); err == nil && v.Error != nil {
			m = &divider{Class: "error", Text: "A request failed: " + render.ErrorLine(v.Error)}
		}
	case skein.KindResumed, skein.KindEnded:
		m = k.program(e)
	case skein.KindNoted:
		m = notedMark(texts, e)
	}
	return m
}

func compactedMark(texts *abridger, e skein.Event) *divider {
	c, err := skein.Decode[skein.Compacted](e)
	if err != nil {
		return nil
	}
	if c.Failed {
		return &divider{Class: "error", Text: "Compaction failed: the model gave no summary."}
	}
	m := &divider{Class: "compacted", Text: "Compacted: in place of everything up to", To: c.To}
	if c.To == 0 {
		m.Text = "Compacted."
	} else {
		m.Text = "Compacted: the model sees a summary in place of everything up to"
	}
	if c.Before > 0 && c.After > 0 {
		m.Title = fmt.Sprintf("Summary (%s tokens became %s)", render.Short(c.Before), render.Short(c.After))
	}
	if c.Summary != "" {
		m.Title = cmp.Or(m.Title, "Summary")
		html, _ := texts.prose(&skein.Message{Role: skein.RoleAssistant}, c.Summary)
		m.HTML = html
	}
	return m
}

func byWhom(b skein.By) string {
	switch b {
	case skein.ByPerson:
		return "a person"
	case skein.ByModel:
		return "the model"
	}
	return "the original program"
}

func changedMark(c *skein.Changed) *divider {
	text := ""
	add := func(what string, to *string) {
		switch {
		case to == nil:
		case *to == "":
			text += ", " + what + " removed"
		default:
			text += ", " + what + " is now " + render.Line(*to)
		}
	}
	add("model", c.Model)
	add("agent", c.Agent)
	add("profile", c.Profile)
	add("folder", c.Cwd)
	add("project", c.Project)
	add("status", c.Status)
	add("key", c.Key)
	if text == "" {
		return nil // pins and tags are not part of the conversation
	}
	return &divider{Class: "note", Text: "Changed" + text[1:]}
}

// program tells of a program that takes over from another one, or ends in a way that it
// should not. Coming and going is otherwise no part of the conversation.
func (k *pageMarks) program(e skein.Event) *divider {
	p, err := skein.Decode[skein.Program](e)
	if err != nil {
		return nil
	}
	before, is := k.worker, p.Program+" "+p.Host
	k.worker = is
	switch {
	case e.Kind == skein.KindResumed && (before == "" || before == is),
		e.Kind == skein.KindEnded && slices.Contains([]string{"", "done", "interrupted"}, p.How):
		return nil
	}
	text := "Resumed"
	if e.Kind == skein.KindEnded {
		text = "Ended"
	}
	if p.Program != "" {
		text += " by " + render.Line(p.Program+" "+p.Version)
	}
	if p.Host != "" {
		text += " on " + render.Line(p.Host)
	}
	if p.How != "" {
		text += ": " + render.Line(p.How)
	}
	return &divider{Class: "note", Text: text}
}

// notedMark shows events that people should see: errors and scrubs.
func notedMark(texts *abridger, e skein.Event) *divider {
	n, err := skein.Decode[skein.Noted](e)
	if err != nil || !slices.Contains([]string{"warning", "warn", "error"}, n.Level) && n.Name != "scrubbed" && n.Name != "note" {
		return nil
	}
	m := &divider{Class: "note", Text: render.Line(n.Name)}
	if n.Level == "error" {
		m.Class = "error"
	}
	if len(n.Data) > 0 {
		m.Title = "Details"
		m.Code, _ = texts.code("json", string(n.Data))
	}
	return m
}

// turnSums adds up the usage of turns, and shows it at their ends.
type turnSums struct {
	t           *transcriber
	begun       bool // no message came yet, and the window does not begin the session
	n           int
	open        bool
	part        bool
	usage       skein.Usage
	cost        price.NanoUSD
	known       bool
	requests    map[string]skein.Usage
	first, last skein.Time
	fork        skein.Seq
}

// add adds a message; one that begins a turn ends the turn before.
func (s *turnSums) add(e *skein.Entry) {
	if e.Turn != s.n || !s.open {
		s.end()
		part := s.begun && !e.Message.Typed()
		*s = turnSums{t: s.t, n: e.Turn, open: true, part: part, known: true, first: e.Time, requests: map[string]skein.Usage{}}
	}
	s.last, s.fork = max(s.last, e.Time), max(s.fork, e.End)
	m := &e.Message
	if m.Usage == nil {
		return
	}
	u, all := *m.Usage, *m.Usage
	if m.Request != "" {
		was := s.requests[m.Request]
		all = was.Merge(u)
		s.requests[m.Request] = all
		u = all.Minus(was)
	}
	s.usage = s.usage.Plus(u)
	cost, known := s.t.cost(e, u, all)
	s.cost += cost
	s.known = s.known && known
}

// end shows the usage of the turn, if one is open.
func (s *turnSums) end() {
	bare := s.t.Mode != ModeAll && (len(s.t.Items) == 0 || s.t.Items[len(s.t.Items)-1].Turn != nil) // nothing of it is shown
	if s.open && !bare && s.n > 0 && (s.usage.Tokens() > 0 || s.last > s.first) {
		s.t.add(transcriptItem{Turn: &turnEnd{N: s.n, Used: used(s.usage, s.cost, s.known), Took: took(s.first, s.last), Part: s.part, Fork: s.fork}})
	}
	s.open = false
}
