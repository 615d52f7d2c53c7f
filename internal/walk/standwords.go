package walk

import (
	"slices"

	"github.com/skein-dev/skein"
)

// words recomputes the first and last words.
func (s *look) words() (err error) {
	x := s.state
	x.First, x.LastPrompt, x.Prompts = "", "", Prompts{}
	if x.Turns == 0 {
		return nil
	}
	if x.LastAt, x.LastPrompt, err = s.lastWords(s.end()); err != nil || x.LastAt == 0 {
		return err
	}
	x.FirstAt, x.First, err = s.firstWords(0)
	return err
}

// keepWords corrects the first and last words after the events between to and at were
// taken back.
func (s *look) keepWords(to, at skein.Seq) (err error) {
	x := s.state
	kept := func(seq skein.Seq) bool { return seq != 0 && !within(x.Gaps, seq) }
	switch {
	case x.Turns == 0 || x.FirstAt == 0 || x.LastAt == 0:
		return s.words()
	case !kept(x.LastAt):
		if x.LastAt, x.LastPrompt, err = s.lastWords(s.end()); err != nil {
			return err
		}
	}
	if !kept(x.FirstAt) { // then nothing before it is live
		x.FirstAt, x.First, err = s.firstWords(min(to, x.FirstAt))
	}
	return err
}

// reword corrects the first and last words after the prompt that begins with p has
// changed.
func (s *look) reword(p Piece) error {
	x, seq := s.state, p.Seq
	if x.FirstAt == 0 || x.LastAt == 0 {
		return s.words()
	}
	text, err := s.wordsOf(p)
	if err != nil {
		return err
	}
	switch {
	case text != "" && seq >= x.LastAt:
		x.LastAt, x.LastPrompt = seq, text
	case seq == x.LastAt:
		if x.LastAt, x.LastPrompt, err = s.lastWords(seq); err != nil {
			return err
		}
	}
	switch {
	case text != "" && seq <= x.FirstAt:
		x.FirstAt, x.First = seq, text
	case seq == x.FirstAt:
		x.FirstAt, x.First, err = s.firstWords(seq)
	}
	return err
}

// lastWords returns the last live prompt before a seq that has words: a picture alone
// has none.
func (s *look) lastWords(before skein.Seq) (at skein.Seq, text string, err error) {
	for {
		p, err := s.last(before)
		if err != nil || p.Seq == 0 {
			return 0, "", err
		}
		if text, err = s.wordsOf(p); text != "" || err != nil {
			return p.Seq, text, err
		}
		before = p.Seq
	}
}

// firstWords returns the first such prompt after a seq.
func (s *look) firstWords(after skein.Seq) (at skein.Seq, text string, err error) {
	for {
		p, err := s.first(after)
		if err != nil || p.Seq == 0 {
			return 0, "", err
		}
		if text, err = s.wordsOf(p); text != "" || err != nil {
			return p.Seq, text, err
		}
		after = p.Seq
	}
}

// last returns the last prompt before a seq that was not taken back.
func (s *look) last(before skein.Seq) (p Piece, err error) {
	line := subtract([]skein.SeqRange{{From: 0, To: before - 1}}, s.state.Gaps)
	for _, r := range slices.Backward(line) {
		if p, err = prompt(s.segs, r, s.log.LastPrompt); err != nil || p.Seq != 0 {
			return p, err
		}
	}
	return Piece{}, nil
}

// first returns the first prompt after a seq that was not taken back.
func (s *look) first(after skein.Seq) (p Piece, err error) {
	line := subtract([]skein.SeqRange{{From: after, To: s.end()}}, s.state.Gaps)
	for _, r := range line {
		if p, err = prompt(s.segs.Oldest(), r, s.log.FirstPrompt); err != nil || p.Seq != 0 {
			return p, err
		}
	}
	return Piece{}, nil
}

// prompt returns the prompt that find returns for the first of segs that has one in r.
func prompt(segs Segments, r skein.SeqRange, find func(Segment, skein.SeqRange) ([]Piece, error)) (Piece, error) {
	for _, seg := range segs {
		found, err := find(seg, r)
		if err != nil {
			return Piece{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return Piece{}, nil
}

// wordsOf returns the first words of the message that begins with p; "" if it does not
// begin a turn, is not live, or cannot be read.
func (s *look) wordsOf(p Piece) (string, error) {
	if !p.Typed {
		return "", nil
	}
	m, err := s.messageOf(p)
	if err != nil {
		return "", err
	}
	seq := m.groupOf(p, s.state.Gaps).shown(&m, s.end())
	if seq == 0 {
		return "", nil
	}
	for _, a := range slices.Backward(m.about[seq]) {
		if a.Empty {
			continue
		}
		text, known, err := s.read(a.Seq)
		if known || err != nil {
			return text, err
		}
	}
	text, _, err := s.read(seq)
	return text, err
}

// read returns the words of a said event, or of an amended event's new payload; known
// is false if the amended event has none.
func (s *look) read(seq skein.Seq) (text string, known bool, err error) {
	e, err := s.log.Readable(s.segs, seq)
	if err != nil {
		return "", false, err
	}
	if e.Kind == skein.KindAmended {
		a, err := skein.Decode[skein.Amended](e)
		if err == nil && len(a.Payload) == 0 {
			return "", false, nil
		}
		e = skein.Event{Kind: skein.KindSaid, Payload: a.Payload}
	}
	m, err := skein.Decode[skein.Message](e)
	if e.Kind != skein.KindSaid || err != nil {
		s.state.Hurt = true
		return "", true, nil //nolint:nilerr // a payload that cannot be read has no words
	}
	return m.Prompt(), true, nil
}
