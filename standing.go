package skein

import (
	"cmp"
	"math"
)

// A Standing tells from events which messages of a session stand: what was
// neither taken back nor withdrawn. That is what [Session.Messages] counts, and
// what [Entries] does not mark. Its zero value is ready.
type Standing struct{ folder Folder }

// Add takes in the event e, whose seq must be greater than those before. Said,
// rewound and amended ones matter. Where not all of them are added, there must
// be all rewinds, and of each message all pieces and amendments or none.
//
// The error wraps [ErrInvalid]: a payload that does not fit its kind.
func (s *Standing) Add(e Event) error {
	s.folder.light = true
	return s.folder.Add(e)
}

// Joins reports whether a said event that comes next, with this message ID, is
// a further piece of a message that stands.
func (s *Standing) Joins(id string) bool {
	_, ok := s.folder.joins(id)
	return ok
}

// Shown returns what stands: Messages, Turns, First and LastPrompt.
func (s *Standing) Shown() (x Shown) {
	for _, m := range s.messages() {
		if !m.stands {
			continue
		}
		x.Messages++
		if m.typed {
			x.Turns++
			x.LastPrompt = cmp.Or(m.words, x.LastPrompt)
			x.First = cmp.Or(x.First, x.LastPrompt)
		}
	}
	return x
}

// A standing message is one that was said.
type standing struct {
	typed, stands bool
	words         string // of the first piece that stands
}

// messages returns the messages in order of their first events.
func (s *Standing) messages() []standing {
	f := &s.folder
	spans := f.line.spans(math.MaxInt64)
	all := make([]standing, 0, len(f.said))
	at := make([]int, len(f.said)) // first piece → index in all
	for i := range f.said {
		p := &f.said[i]
		if p.first == i {
			at[i] = len(all)
			all = append(all, standing{typed: p.typed})
		}
		m := &all[at[p.first]]
		if within(spans, p.seq) && !p.gone && !m.stands {
			m.stands, m.words = true, p.message.Words()
		}
	}
	return all
}

// inShort returns what a Standing keeps of m: its first words.
func inShort(m *Message) Message {
	return Message{ID: m.ID, Parts: []Part{TextPart(m.Prompt())}}
}
