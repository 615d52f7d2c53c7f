package skillet

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// An aside is a turn that is only in the log, while it is read: a command to the
// program, or a turn that broke off. Its messages are said and at once rewound: they
// can be found, but no model is shown them.
type aside struct {
	open bool
	said []interop.Item
	size int
	turn turn
}

// Limits of an aside.
const (
	maxAside      = 200     // messages
	maxAsideBytes = 1 << 20 // of the log's lines
	maxAsked      = 100_000 // prompts in rows that are recognized in the log
)

// ask remembers a user message in a row.
func (r *reader) ask(it *item) {
	if len(r.asked) < maxAsked {
		r.asked[wordsIn(func(s *said) { s.list(it.Content) })]++
	}
}

// besides returns the items of an aside that ends with this line; one that broke off
// ends with the next turn. to is the item before this record's.
func (r *reader) besides(l line, in *logged, to int) (items []interop.Item) {
	a := &r.aside
	if in.Kind == "user_message" {
		items = r.closeAside(l, to)
		*a = aside{open: r.isAside(in)}
	}
	if !a.open {
		return items
	}
	if m, blobs, ok := a.message(l, in); ok && len(a.said) < maxAside && a.size < maxAsideBytes {
		a.size += len(l.text)
		a.said = append(a.said, interop.Item{Event: skein.Say(l.time, m), Blobs: blobs})
	}
	if in.Kind == "final_result" {
		items = r.closeAside(l, to)
	}
	return items
}

func (r *reader) closeAside(l line, to int) []interop.Item {
	items := r.aside.said
	r.aside = aside{}
	if len(items) == 0 {
		return nil
	}
	items = append(items, interop.Item{Event: skein.NewEvent(skein.KindRewound, l.time, skein.Rewound{}), To: to})
	r.count += len(items)
	return items
}

// isAside reports whether the turn that a line opens is not in the rows. In a
// compacted session some turns are no longer in the rows, and in a shared log some
// belong to other sessions: in these cases only commands count.
func (r *reader) isAside(in *logged) bool {
	words := wordsIn(func(s *said) { s.input(in) })
	if r.asked[words] > 0 {
		r.asked[words]--
		return false
	}
	return strings.HasPrefix(words, "/") || words != "" && !r.compacted && !r.shared && len(r.asked) < maxAsked
}

// message returns the message in a line of an aside.
func (a *aside) message(l line, in *logged) (m skein.Message, blobs []skein.Blob, ok bool) {
	switch {
	case in.Kind == "user_message":
		var s said
		s.input(in)
		m = skein.Message{Role: skein.RoleUser, Parts: s.all()}
		m.Synthetic = strings.HasPrefix(string(s.texts()), "/") // said to the program, not to a model
		return m, s.blobs, true
	case in.Kind == "final_result" && in.Final != nil:
		told := a.turn.texts.String()
		ok = strings.TrimSpace(string(in.Final.Text)) != strings.TrimSpace(told)
		return skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(string(in.Final.Text))}}, nil, ok
	case in.Kind == "step" && in.Step != nil:
		m, ok = a.turn.step(l, in.Step)
	}
	return m, nil, ok
}
